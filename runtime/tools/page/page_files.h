// SPDX-License-Identifier: Apache-2.0
// The pages of web/, as embed.cmake joins their parts: each is cut in two where its data belong.
#ifndef QRT_RUNTIME_TOOLS_PAGE_PAGE_FILES_H_
#define QRT_RUNTIME_TOOLS_PAGE_PAGE_FILES_H_

namespace qrt::tool {

extern const char kModelPageStart[], kModelPageEnd[];    // page.h
extern const char kReportPageStart[], kReportPageEnd[];  // the page of qrt_quantize --report

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_PAGE_PAGE_FILES_H_
