import { RevconvertError } from '../../errors.js';
import { asBuffer } from '../bytes.js';

/** A name and a value, of a bundle's stream or of a part. Latin-1: one character a byte. */
export interface Parameter {
  readonly name: string;
  readonly value: string;
}

/**
 * The header of a part (source: `hg help internals.bundle2`):
 *
 *      0  u8   length of the type
 *      1  the type: letters, digits, and some signs; with an upper-case letter the part is mandatory
 *         u32  number of the part
 *         u8   mandatory parameters, u8 advisory parameters
 *         for each, the mandatory ones first: u8 length of the name, u8 length of the value
 *         names and values
 */
export interface PartHeader {
  /** In lower case, whether it is mandatory or not. */
  readonly type: string;
  readonly id: number;
  /** A reader that does not know it must stop. */
  readonly mandatory: boolean;
  readonly mandatoryParameters: readonly Parameter[];
  readonly advisoryParameters: readonly Parameter[];
}

const FIXED_BYTES = 7;
const MAX_PARAMETERS = 255;
const MAX_FIELD = 255;

const malformed = (message: string): RevconvertError => new RevconvertError('PART_MALFORMED', `part header: ${message}`);

/**
 * @param bytes the header, without its length
 * @throws RevconvertError PART_MALFORMED
 */
export function parsePartHeader(bytes: Uint8Array): PartHeader {
  const buffer = asBuffer(bytes);
  const typeLength = buffer[0] ?? 0;
  if (buffer.length < FIXED_BYTES + typeLength) throw malformed(`${buffer.length} bytes are too few for a type of ${typeLength}`);
  const written = buffer.toString('latin1', 1, 1 + typeLength);
  if (!/^[a-zA-Z0-9_:-]+$/.test(written)) throw malformed(`a type is made of letters, digits, and _ : -, found ${JSON.stringify(written)}`);
  const id = buffer.readUInt32BE(1 + typeLength);
  const mandatoryCount = buffer[5 + typeLength] ?? 0;
  const count = mandatoryCount + (buffer[6 + typeLength] ?? 0);
  const sizesAt = FIXED_BYTES + typeLength;
  let at = sizesAt + 2 * count;
  const parameters: Parameter[] = [];
  for (let i = 0; i < count; i++) {
    const nameEnd = at + (buffer[sizesAt + 2 * i] ?? 0);
    const valueEnd = nameEnd + (buffer[sizesAt + 2 * i + 1] ?? 0);
    if (valueEnd > buffer.length) throw malformed(`parameter ${i + 1} of ${count} ends at ${valueEnd}, the header at ${buffer.length}`);
    parameters.push({ name: buffer.toString('latin1', at, nameEnd), value: buffer.toString('latin1', nameEnd, valueEnd) });
    at = valueEnd;
  }
  if (at !== buffer.length) throw malformed(`${buffer.length - at} bytes behind the last parameter`);
  checkNames(parameters);
  const type = written.toLowerCase();
  return { type, id, mandatory: type !== written, mandatoryParameters: parameters.slice(0, mandatoryCount), advisoryParameters: parameters.slice(mandatoryCount) };
}

function checkNames(parameters: readonly Parameter[]): void {
  const names = new Set<string>();
  for (const { name } of parameters) {
    if (names.has(name)) throw malformed(`two parameters are called ${JSON.stringify(name)}`);
    names.add(name);
  }
}

/**
 * @returns the header, without its length
 * @throws RevconvertError INTERNAL where something does not fit its field
 */
export function encodePartHeader(part: PartHeader): Buffer {
  const parameters = [...part.mandatoryParameters, ...part.advisoryParameters];
  const type = Buffer.from(part.mandatory ? part.type.toUpperCase() : part.type, 'latin1');
  const fields = parameters.flatMap(({ name, value }) => [Buffer.from(name, 'latin1'), Buffer.from(value, 'latin1')]);
  if (parameters.length > MAX_PARAMETERS || [type, ...fields].some(({ length }) => length > MAX_FIELD)) {
    throw new RevconvertError('INTERNAL', `the header of part ${part.type} has a field of more than ${MAX_FIELD} bytes, or more than ${MAX_PARAMETERS} parameters`);
  }
  const id = Buffer.alloc(4);
  id.writeUInt32BE(part.id);
  const counts = [part.mandatoryParameters.length, part.advisoryParameters.length];
  return Buffer.concat([Buffer.from([type.length]), type, id, Buffer.from([...counts, ...fields.map(({ length }) => length)]), ...fields]);
}

/** The value of a parameter of a part; undefined where there is none of this name. */
export const partParameter = ({ mandatoryParameters, advisoryParameters }: PartHeader, name: string): string | undefined =>
  [...mandatoryParameters, ...advisoryParameters].find((one) => one.name === name)?.value;

/** A part as a person knows it. */
export const partName = ({ type, id }: PartHeader): string => `${type} (${id})`;
