import type { PolicyInput } from '../delta/policy-input.js';
import { resolvePolicy } from '../delta/policy-input.js';
import { RevconvertError } from '../errors.js';
import { findJsonFault } from './json-fault.js';
import { readSmallFile } from './read-file.js';

const MAX_BYTES = 1 << 20;

/**
 * Reads a policy from a file: a JSON object in UTF-8, at most 1 MiB.
 * @throws RevconvertError POLICY: no such file, no JSON, no policy; PERMISSION, SYSTEM: it cannot be read
 */
export function readPolicyFile(path: string): PolicyInput {
  try {
    const policy = parseJson(decode(readFile(path)));
    resolvePolicy(policy);
    return policy as PolicyInput;
  } catch (error) {
    throw error instanceof RevconvertError ? error.located({ path }) : error;
  }
}

function readFile(path: string): Buffer {
  let bytes: Buffer | undefined;
  try {
    bytes = readSmallFile(path, MAX_BYTES);
  } catch (error) {
    // What this program refuses, not the system: a folder, a FIFO, too large a file.
    if (error instanceof RevconvertError && error.cause === undefined) throw new RevconvertError('POLICY', error.message);
    throw error;
  }
  if (bytes === undefined) throw new RevconvertError('POLICY', 'there is no such file');
  return bytes;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new RevconvertError('POLICY', 'not UTF-8', {}, { cause: error });
  }
}

function parseJson(text: string): unknown {
  const fault = findJsonFault(text);
  if (fault !== undefined) throw new RevconvertError('POLICY', `not JSON: line ${fault.line}, column ${fault.column}: ${fault.message}`);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RevconvertError('POLICY', `not JSON: ${(error as Error).message}`, {}, { cause: error });
  }
}
