/** The arrays of a `.safetensors` file, each copied out when it is asked for. */

import type { Numbers, PerHead, Table } from "./record";

/** What came is not a whole document. */
export class Damaged extends Error {
  constructor(reason: string) {
    super(`this is not a whole jumok document: ${reason}`);
  }
}

/** Where an array lies, as the file's header says. */
export interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

export type Entries = ReadonlyMap<string, Entry>;

/** Bytes of one number. */
const SIZES: Readonly<Record<string, number>> = {
  F64: 8,
  F32: 4,
  F16: 2,
  I64: 8,
  I32: 4,
  I16: 2,
  I8: 1,
  U64: 8,
  U32: 4,
  U16: 2,
  U8: 1,
  BOOL: 1,
};

/** The tensors of one layer. */
export class Tensors {
  /** Where in the file the view begins: 0, or, where the layer came alone, at its first tensor. */
  private readonly start: number;

  constructor(
    private readonly entries: Entries,
    private readonly view: DataView,
    alone: boolean,
  ) {
    this.start = alone ? Math.min(...Array.from(entries.values(), (entry) => entry.data_offsets[0])) : 0;
  }

  has(name: string): boolean {
    return this.entries.has(name);
  }

  shape(name: string, axes: number): readonly number[] {
    const { shape } = this.entry(name);
    if (shape.length !== axes) throw new Damaged(`${name} has ${shape.length} axes, expected ${axes}`);
    return shape;
  }

  floats(name: string): Numbers {
    const { dtype } = this.entry(name);
    if (dtype === "F64") return new Float64Array(this.copied(name));
    if (dtype === "F32") return new Float32Array(this.copied(name));
    if (dtype === "F16") return Float32Array.from(new Uint16Array(this.copied(name)), halfAsNumber);
    throw new Damaged(`${name} holds ${dtype}, expected real numbers`);
  }

  table(name: string): Table {
    const [rows, columns] = this.shape(name, 2);
    return { rows, columns, values: this.floats(name) };
  }

  perHead(name: string): PerHead {
    const [heads, rows, width] = this.shape(name, 3);
    return { heads, rows, width, values: this.floats(name) };
  }

  /** Numbers that travelled as whole ones, with one scale a row. */
  rounded(name: string): PerHead {
    const [heads, rows, width] = this.shape(name, 3);
    const whole = new Int16Array(this.copied(name, "I16"));
    const scales = this.floats(`${name}.scale`);
    if (scales.length !== heads * rows) throw new Damaged(`${name} needs one scale a row`);
    const values = new Float32Array(whole.length);
    for (let row = 0, at = 0; row < scales.length; row++) {
      for (const end = at + width; at < end; at++) values[at] = whole[at] * scales[row];
    }
    return { heads, rows, width, values };
  }

  booleans(name: string): Uint8Array {
    return new Uint8Array(this.copied(name, "BOOL"));
  }

  /** Whole numbers of any size; where they do not fit 32 bits, equal ones only stay equal. */
  ids(name: string): Int32Array {
    const { dtype, shape } = this.entry(name);
    const size = SIZES[dtype];
    if (size === undefined || !/^[IU]/.test(dtype)) throw new Damaged(`${name} holds ${dtype}, expected whole numbers`);
    const bytes = new DataView(this.copied(name));
    const numbers = Array.from({ length: product(shape) }, (_, at) => wholeAt(bytes, at * size, dtype));
    if (numbers.every((id) => BigInt.asIntN(32, id) === id)) return Int32Array.from(numbers, Number);
    const known = new Map([...new Set(numbers)].map((id, at) => [id, at]));
    return Int32Array.from(numbers, (id) => known.get(id) ?? 0);
  }

  private entry(name: string): Entry {
    const entry = this.entries.get(name);
    if (!entry) throw new Damaged(`the array ${name} is missing`);
    return entry;
  }

  /** The bytes of a tensor in a buffer of their own: in the file they may begin anywhere. */
  private copied(name: string, expected?: string): ArrayBuffer {
    const { dtype, shape, data_offsets } = this.entry(name);
    if (expected !== undefined && dtype !== expected) throw new Damaged(`${name} holds ${dtype}, expected ${expected}`);
    const [from, to] = data_offsets.map((offset) => offset - this.start);
    if (to - from !== product(shape) * SIZES[dtype] || from < 0 || to > this.view.byteLength) {
      throw new Damaged(`the bytes of ${name} are not all here`);
    }
    const begin = this.view.byteOffset + from;
    return this.view.buffer.slice(begin, begin + to - from) as ArrayBuffer;
  }
}

function product(shape: readonly number[]): number {
  return shape.reduce((size, axis) => size * axis, 1);
}

function wholeAt(bytes: DataView, at: number, dtype: string): bigint {
  const signed = dtype.startsWith("I");
  switch (SIZES[dtype]) {
    case 1:
      return BigInt(signed ? bytes.getInt8(at) : bytes.getUint8(at));
    case 2:
      return BigInt(signed ? bytes.getInt16(at, true) : bytes.getUint16(at, true));
    case 4:
      return BigInt(signed ? bytes.getInt32(at, true) : bytes.getUint32(at, true));
    default:
      return signed ? bytes.getBigInt64(at, true) : bytes.getBigUint64(at, true);
  }
}

/** IEEE 754 half precision: 1 bit of sign, 5 of exponent, 10 of fraction. */
function halfAsNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = (bits & 1023) / 1024;
  return sign * (exponent === 0 ? fraction * 2 ** -14 : (1 + fraction) * 2 ** (exponent - 15));
}
