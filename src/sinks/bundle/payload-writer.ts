import type { PartHeader } from '../../formats/bundle/part-header.js';
import { encodePartHeader } from '../../formats/bundle/part-header.js';
import type { GatheredOutput } from './output.js';

/** Where the bytes of a part go. */
export interface PayloadWriter {
  /** Bytes of the payload, in pieces of any size. */
  write(bytes: Uint8Array): void;
  /** Bytes that are to be a piece of their own. */
  writeWhole(bytes: Uint8Array): void;
}

/** A payload that stands in no frames: that of the one part that HG10 and HGS1 have. */
export const plainPayload = (output: GatheredOutput): PayloadWriter => ({
  write: (bytes) => output.write(bytes),
  writeWhole: (bytes) => output.write(bytes),
});

/** Bytes of a piece of a payload, as Mercurial cuts it. */
const FRAME_BYTES = 32768;

const INTERRUPT = -1;
const END = 0;

/** Writes parts of a bundle 2 stream: headers, and payloads in frames. */
export class PartsWriter {
  /** The parts that are open: more than one where one interrupts another. */
  readonly #open: FramedPayload[] = [];

  constructor(private readonly output: GatheredOutput) {}

  /** @returns where its payload goes */
  begin(part: PartHeader): PayloadWriter {
    const outer = this.#open.at(-1);
    if (outer !== undefined) {
      outer.flush();
      this.output.writeInt32(INTERRUPT);
    }
    const header = encodePartHeader(part);
    this.output.writeInt32(header.length);
    this.output.write(header);
    const payload = new FramedPayload(this.output);
    this.#open.push(payload);
    return payload;
  }

  /** Ends the part that was begun last. */
  end(): void {
    this.#open.pop()?.flush();
    this.output.writeInt32(END);
  }

  /** The mark behind the last part. */
  finish(): void {
    this.output.writeInt32(END);
  }
}

class FramedPayload implements PayloadWriter {
  readonly #frame = Buffer.allocUnsafeSlow(FRAME_BYTES);
  #used = 0;

  constructor(private readonly output: GatheredOutput) {}

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const left = bytes.length - at;
      if (this.#used === 0 && left >= FRAME_BYTES) {
        this.writeWhole(bytes.subarray(at, at + FRAME_BYTES));
        at += FRAME_BYTES;
        continue;
      }
      const some = Math.min(FRAME_BYTES - this.#used, left);
      this.#frame.set(some === bytes.length ? bytes : bytes.subarray(at, at + some), this.#used);
      this.#used += some;
      at += some;
      if (this.#used === FRAME_BYTES) this.flush();
    }
  }

  writeWhole(bytes: Uint8Array): void {
    this.flush();
    // An empty piece would be the end.
    if (bytes.length === 0) return;
    this.output.writeInt32(bytes.length);
    this.output.write(bytes);
  }

  /** Writes what waits for its frame to be full. */
  flush(): void {
    if (this.#used === 0) return;
    this.output.writeInt32(this.#used);
    this.output.write(this.#frame.subarray(0, this.#used));
    this.#used = 0;
  }
}
