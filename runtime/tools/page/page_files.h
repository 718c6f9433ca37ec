// The files of web/, as embed.cmake joins them.
#ifndef QRT_RUNTIME_TOOLS_PAGE_PAGE_FILES_H_
#define QRT_RUNTIME_TOOLS_PAGE_PAGE_FILES_H_

namespace qrt::tool {

extern const char kPageStart[];  // up to the data
extern const char kPageEnd[];    // behind it

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_PAGE_PAGE_FILES_H_
