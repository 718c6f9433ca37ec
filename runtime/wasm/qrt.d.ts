/** A status of qrt.h: what went wrong. */
export type QrtCode = 'INVALID_ARGUMENT' | 'INVALID_MODEL' | 'UNSUPPORTED' | 'OUT_OF_MEMORY' | 'IO_ERROR' | 'INTERNAL' |
    'CANCELLED' | 'OUT_OF_RANGE';

/** The class of the errors that functions of the package throw. */
export declare class QrtError extends Error {
  readonly name: 'QrtError';
  readonly code: QrtCode;
  constructor(code: QrtCode, message: string, options?: { cause?: unknown });
}

export type TensorArray = Uint8Array | Int8Array | Uint16Array | Int16Array | Int32Array | Uint32Array |
    BigInt64Array | Float32Array;
/** Values for an input. The Uint8ClampedArray of a canvas serves as uint8. */
export type TensorInput = TensorArray | Uint8ClampedArray;

export type DType = 'uint8' | 'int8' | 'uint16' | 'int16' | 'int32' | 'int64' | 'float32' | 'float16' | 'bfloat16' |
    'bool' | 'uint32' | 'int4' | 'uint4' | 'int2' | 'uint2' | 'float8e4m3fn' | 'float8e4m3fnuz' | 'float8e5m2' |
    'float8e5m2fnuz' | 'float8e8m0' | 'float4e2m1';

export interface TensorInfo {
  readonly name: string;
  /** float16 and bfloat16 are Uint16Arrays of their bits, packed and 8-bit floating-point elements bytes. */
  readonly dtype: DType;
  /** Sizes in the source model's order; a model has -1 for each dimension that it leaves open. */
  readonly dims: readonly number[];
  readonly bytes: number;
  /** A name or a formula for each dimension of a model's tensor, null where it has none; [] in a session. */
  readonly dimNames: readonly (string | null)[];
  /** Where an image has its channels; null for all but inputs that are known to be images. */
  readonly layout: 'channels_last' | 'channels_first' | null;
  /** real = (q - zeroPoint) * scale; one pair, or one for each index of `axis`. */
  readonly quantization: { readonly scale: readonly number[]; readonly zeroPoint: readonly number[]; readonly axis: number } | null;
}

/** A dimension that the model leaves open. Sizes are least, least + step, ... up to most. */
export interface DimInfo {
  readonly name: string;
  readonly defaultSize: number;
  readonly least: number;
  readonly most: number;
  readonly step: number;
}

export interface OperatorInfo {
  readonly name: string | null;
  readonly type: string;
  readonly source: string | null;
  readonly kernel: string;
  /** 0 and 1: integers, 2: float, -1: quantises or dequantises at the model's edges. */
  readonly level: number;
  readonly macs: number;
  /** Over all runs, with `profile`. */
  readonly milliseconds: number;
  readonly runs: number;
}

export interface CheckResult {
  /** How many there are. */
  readonly operators: number;
  /** The first that differs; null: all are equal. */
  readonly different: { readonly index: number; readonly name: string | null; readonly type: string; readonly kernel: string } | null;
}

/** A URL, a path (node), or the bytes of a .qrt file. */
export type ModelSource = string | URL | ArrayBuffer | SharedArrayBuffer | ArrayBufferView | Blob;

export interface LoadOptions {
  /** Compare the bytes with the checksum at the file's end. */
  check?: boolean;
  /** Which module; otherwise the best that the engine takes. */
  module?: 'wasm128' | 'wasmrelaxed';
  /** Where the module is, if not beside the package's files: a URL, its bytes, or a compiled module. */
  wasm?: string | URL | ArrayBuffer | ArrayBufferView | WebAssembly.Module;
}

export interface SessionOptions {
  batch?: number;
  /** Sizes of open dimensions. */
  dims?: Record<string, number>;
  /** A session has one thread whatever is asked for. */
  threads?: number;
  /** The best instruction set to use: "scalar", "wasm128", "wasmrelaxed". */
  isa?: string;
  /** Record a time per operator. */
  profile?: boolean;
  /** Keep every tensor for Session.tensors. */
  keepAll?: boolean;
  /** Bytes that the session may hold. */
  maxMemory?: number;
}

interface DisposableBySymbol {
  dispose(): void;
  [Symbol.dispose](): void;
}

export declare class Session implements DisposableBySymbol {
  private constructor();
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  readonly threads: 1;
  readonly isa: string;
  readonly batch: number;
  /** Bytes that it holds. */
  readonly memory: number;
  /** The session's own memory of an input, to be filled before run(); ask again after making another session. */
  input(name: string): TensorArray;
  /** The session's own memory of an output, as the last run has left it. */
  output(name: string): TensorArray;
  /** Fills the inputs that are named, runs, and returns copies of all outputs. */
  run(inputs?: Record<string, TensorInput>): Record<string, TensorArray>;
  /** Goes on at other sizes of open dimensions; inputs are 0 again. */
  reshape(dims: Record<string, number>): void;
  /** Gives everything that the model keeps between runs its initial value again. */
  reset(): void;
  readonly operators: OperatorInfo[];
  /** With `keepAll`: what operators wrote in the last run. */
  readonly tensors: (TensorInfo & { readonly data: Uint8Array })[];
  dispose(): void;
  [Symbol.dispose](): void;
}

export declare class Model implements DisposableBySymbol {
  private constructor();
  static load(source: ModelSource, options?: LoadOptions): Promise<Model>;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  readonly dims: readonly DimInfo[];
  readonly name: string | null;
  /** Whose bits the model gives: "ort-x64-fma". */
  readonly reference: string | null;
  readonly defaultBatch: number;
  metadata(key: string): string | undefined;
  session(options?: SessionOptions): Session;
  /** Runs the test values of a file of `qrt_convert --digests`: whether every operator has the bits of the native library. */
  check(): CheckResult;
  /** Its sessions go on. */
  dispose(): void;
  [Symbol.dispose](): void;
}

export interface WorkerSession {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  readonly threads: 1;
  readonly isa: string;
  readonly batch: number;
  /** An array that the next run() sends. */
  input(name: string): TensorArray;
  /** The array that the last run() has brought. */
  output(name: string): TensorArray;
  /** `transfer`: the arrays are given to the worker, and are empty afterwards. */
  run(inputs?: Record<string, TensorInput>, options?: { transfer?: boolean }): Promise<Record<string, TensorArray>>;
  reshape(dims: Record<string, number>): Promise<void>;
  reset(): Promise<void>;
  operators(): Promise<OperatorInfo[]>;
  dispose(): Promise<void>;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A model in a worker of its own: Model's interface by promises. */
export declare class QrtWorker implements DisposableBySymbol {
  private constructor();
  static load(source: ModelSource, options?: LoadOptions): Promise<QrtWorker>;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  readonly dims: readonly DimInfo[];
  readonly name: string | null;
  readonly reference: string | null;
  readonly defaultBatch: number;
  metadata(key: string): Promise<string | undefined>;
  check(): Promise<CheckResult>;
  session(options?: SessionOptions): Promise<WorkerSession>;
  /** The worker ends with its last session. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** The module that this engine takes. */
export declare function bestModule(): 'wasm128' | 'wasmrelaxed';
