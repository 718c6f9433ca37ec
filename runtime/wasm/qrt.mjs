// SPDX-License-Identifier: Apache-2.0
// qrt for JavaScript: exact integer inference of quantised neural networks by WebAssembly.
import { QrtError } from './errors.mjs';
import { Model, Session } from './model.mjs';
import { bestModule } from './module.mjs';
import { QrtWorker } from './worker_client.mjs';

export { Model, QrtError, QrtWorker, Session, bestModule };
