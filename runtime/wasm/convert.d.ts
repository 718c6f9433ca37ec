import type { QrtError } from './qrt.js';
export { QrtError } from './qrt.js';

/** A node of the source: what it became, or why not. */
export interface NodeReport {
  readonly node: string;
  readonly op: string;
  readonly outcome: 'converted' | 'refused' | 'not assessed';
  readonly result: string;
  /** The arithmetic: I0 integers, I1 IEEE-exact float32 as well, F float, edge: it quantises or dequantises. */
  readonly level: '' | 'I0' | 'I1' | 'F' | 'edge';
  readonly rule: string;
  readonly tensor: string;
  readonly remedy: string;
}

/** A finding of `lint`. */
export interface LintWarning {
  readonly rule: string;
  readonly node: string;
  readonly op: string;
  readonly what: string;
  readonly remedy: string;
  readonly numbers: Readonly<Record<string, number>>;
}

/** As qrt_convert --explain=json writes it. */
export interface ConversionReport {
  readonly nodes: readonly NodeReport[];
  readonly refused: number;
  readonly not_assessed: number;
  readonly converted: number;
  readonly batch?: { readonly open: boolean; readonly size: number; readonly why: string };
  /** With `lint`. */
  readonly warnings?: readonly LintWarning[];
}

/** The options of qrt_convert for TFLite and ESP-DL, by their names there in camelCase. */
export interface ConvertOptions {
  /** The source format, instead of recognising it. */
  from?: 'tflite' | 'espdl';
  /** Whose bits a TFLite model gets: tflite-single for builds with TFLITE_SINGLE_ROUNDING. */
  reference?: 'tflite-ref' | 'tflite-single';
  /** Name or index of the signature of a TFLite file that has several. */
  signature?: string | number;
  /** Tensors to end the model at, instead of its own outputs (TFLite). */
  outputs?: string | readonly string[];
  /** "IN=OUT": an input and an output that become a state of the session. */
  state?: string | readonly string[];
  /** The chip whose rounding an ESP-DL model gets, where the file does not say. */
  target?: 'esp32p4' | 'esp32s3' | 'c';
  /** Name or index of the model in an ESP-DL pack. */
  model?: string | number;
  /** Float32 inputs and outputs instead of an ESP-DL model's integers. */
  floatIo?: boolean;
  /** Fail where an operator needs more than this level of arithmetic. */
  requireLevel?: 'I0' | 'I1';
  /** Look for mistakes of the quantisation: `report.warnings`. */
  lint?: boolean;
  /** The module instead of the package's own file, by URL, bytes or compiled. */
  wasm?: string | URL | ArrayBuffer | ArrayBufferView | WebAssembly.Module;
}

export interface Conversion {
  /** The .qrt file, for Model.load(): the same bytes as those of the native qrt_convert of this version. */
  readonly model: Uint8Array;
  readonly report: ConversionReport;
  /** Sentences for the user, such as why the batch is fixed. */
  readonly notes: readonly string[];
}

/** An error of convert(). Its message names what is refused, with remedies. */
export interface ConversionError extends QrtError {
  /** As far as the model was read; null where nothing was. */
  readonly report?: ConversionReport | null;
}

/**
 * Converts a TFLite or ESP-DL model: a URL, in node a path, a file that was dropped, or the bytes. Throws QrtErrors.
 * It takes as long as natively or up to several times that, in which the thread does nothing else: convert large models in a worker.
 */
export declare function convert(source: string | URL | Blob | ArrayBuffer | ArrayBufferView, options?: ConvertOptions): Promise<Conversion>;
