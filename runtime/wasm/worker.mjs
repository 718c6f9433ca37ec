// SPDX-License-Identifier: Apache-2.0
// The worker of QrtWorker: one model and its sessions.
import { Model } from './model.mjs';
import { isNode, nodeModule } from './source.mjs';

let model = null;
let count = 0;
const sessions = new Map();

function tell(id) {
  const { inputs, outputs, threads, isa, batch } = sessions.get(id);
  return { id, inputs, outputs, threads, isa, batch };
}

const methods = {
  async load(bytes, options) {
    model = await Model.load(bytes, options);
    const { inputs, outputs, dims, name, reference, defaultBatch } = model;
    return { inputs, outputs, dims, name, reference, defaultBatch };
  },
  metadata: (key) => model.metadata(key),
  check: () => model.check(),
  session(options) {
    sessions.set(++count, model.session(options));
    return tell(count);
  },
  run: (id, inputs) => sessions.get(id).run(inputs),
  reshape(id, dims) {
    sessions.get(id).reshape(dims);
    return tell(id);
  },
  reset: (id) => sessions.get(id).reset(),
  operators: (id) => sessions.get(id).operators,
  endSession(id) {
    sessions.get(id).dispose();
    sessions.delete(id);
  },
};

async function answer({ id, method, values }, post) {
  try {
    const value = await methods[method](...values);
    // A run's results are copies: they are given away.
    post({ id, value }, method === 'run' ? Object.values(value).map((array) => array.buffer) : []);
  } catch (error) {
    post({ id, error: { code: error.code ?? 'INTERNAL', message: error.message } }, []);
  }
}

if (isNode) {
  nodeModule('worker_threads').then(({ parentPort }) => {
    parentPort.on('message', (message) => answer(message, (value, list) => parentPort.postMessage(value, list)));
  });
} else {
  self.onmessage = ({ data }) => answer(data, (value, list) => self.postMessage(value, list));
}
