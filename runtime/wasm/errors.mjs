// SPDX-License-Identifier: Apache-2.0
// The class of the errors that functions of the package throw.

class QrtError extends Error {
  // `code`: a status of qrt.h, "INVALID_MODEL".
  constructor(code, message, options) {
    super(message, options);
    this.name = 'QrtError';
    this.code = code;
  }
}

export { QrtError };
