// SPDX-License-Identifier: Apache-2.0
/* QRT_FAULT(name, error, changes files): what a call of this kind that fails leaves in errno. */
QRT_FAULT(alloc, ENOMEM, 0)
QRT_FAULT(map, ENOMEM, 0)
QRT_FAULT(thread, EAGAIN, 0)
QRT_FAULT(open, EMFILE, 1)
QRT_FAULT(stat, EIO, 0)
QRT_FAULT(read, EIO, 0)
QRT_FAULT(write, ENOSPC, 1)
QRT_FAULT(mode, EPERM, 1)
QRT_FAULT(sync, EIO, 1)
QRT_FAULT(rename, EIO, 1)
QRT_FAULT(mkdir, ENOSPC, 1)
