// The package's types accept this file, and refuse the lines that it marks as errors.
import { Model, QrtError, QrtWorker, bestModule, type TensorArray, type TensorInfo } from 'qrt';
import { convert, type ConversionError } from 'qrt/convert';

export async function classify(source: string | ArrayBuffer, pixels: Uint8Array): Promise<number> {
  using model = await Model.load(source, { check: true });
  const input: TensorInfo | undefined = model.inputs[0];
  if (input === undefined) throw new QrtError('INVALID_MODEL', 'no input');
  using session = model.session({ batch: 1, dims: { width: 2 }, threads: 1 });
  const results: Record<string, TensorArray> = session.run({ [input.name]: pixels });
  session.input(input.name).fill(0 as never);
  const scale: number | undefined = input.quantization?.scale[0];
  // @ts-expect-error a session has no such option
  model.session({ batches: 1 });
  // @ts-expect-error names are texts
  session.input(0);
  return Object.keys(results).length + (scale ?? 0);
}

export async function inWorker(source: URL): Promise<TensorArray | undefined> {
  const model = await QrtWorker.load(source, { module: bestModule() });
  const session = await model.session();
  try {
    return (await session.run({ x: new Float32Array(1) }, { transfer: true })).y;
  } catch (error) {
    if (error instanceof QrtError && error.code === 'OUT_OF_RANGE') return undefined;
    throw error;
  } finally {
    await session.dispose();
    model.dispose();
  }
}

export async function converted(file: File): Promise<Uint8Array> {
  try {
    const { model, report, notes } = await convert(file, { reference: 'tflite-single', outputs: ['y'], floatIo: false });
    const levels: string[] = report.nodes.map((node) => node.level);
    // @ts-expect-error TFLite models have no such option
    await convert(file, { inputShape: '1x2' });
    return notes.length + levels.length > 0 ? model : new Uint8Array();
  } catch (error) {
    const refused: number | undefined = (error as ConversionError).report?.refused;
    throw new QrtError('UNSUPPORTED', `${refused}`);
  }
}
