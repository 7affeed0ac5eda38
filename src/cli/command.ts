import type { Options } from 'yargs';

import { RevconvertError } from '../errors.js';

/** What yargs made of the options of a command; the keys as they are written. */
export type RawOptions = Readonly<Record<string, unknown>>;

/** One command: what it takes, and what it does. Defaults are the library's: none is added here. */
export interface Command {
  /** One line, then a blank one, then what it does. */
  readonly usage: string;
  readonly options: Readonly<Record<string, Options>>;
  /** Options that may be given more than once, where each counts; of any other the last does. */
  readonly repeatable?: readonly string[];
  /** The most arguments that are no options, and what to say where there are more. */
  readonly positionals: { readonly most: number; readonly message: string };
  readonly examples: readonly (readonly [command: string, what: string])[];
  /** What its exit statuses mean, where that differs from those of a conversion. */
  readonly exitStatus?: string;
  /**
   * @param positionals arguments that are no options
   * @param argv the arguments as they were given, for who has to know their order
   * @returns the exit status
   * @throws RevconvertError USAGE; otherwise as the library
   */
  run(positionals: readonly string[], options: RawOptions, signal: AbortSignal, argv: readonly string[]): Promise<number>;
}

/** A command that is asked for by its name. */
export interface NamedCommand {
  readonly name: string;
  /** What it is given, for the help. */
  readonly args: string;
  /** For the help. */
  readonly summary: string;
  readonly command: Command;
}

/** The value of an option, as text; undefined: not given. */
export const textOption = (options: RawOptions, name: string): string | undefined => {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
};

/** The values of an option that may be repeated, in their order. */
export const textOptions = (options: RawOptions, name: string): readonly string[] => [options[name]].flat().filter((value) => typeof value === 'string');

/** Whether a flag was given; undefined: it was not. */
export const flagOption = (options: RawOptions, name: string): boolean | undefined => {
  const value = options[name];
  return typeof value === 'boolean' ? value : undefined;
};

/** The value of an option, as a number. @throws RevconvertError USAGE where the text is no plain decimal number */
export function numberOption(options: RawOptions, name: string): number | undefined {
  const text = textOption(options, name);
  if (text === undefined) return undefined;
  if (!/^-?\d+(?:\.\d+)?$/.test(text)) throw new RevconvertError('USAGE', `--${name}: a number is expected, found '${text}'`);
  return Number(text);
}

/** A whole number that is given without an option. @throws RevconvertError USAGE where it is none */
export function wholeNumber(text: string, what: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new RevconvertError('USAGE', `${what} is expected, found '${text}'`);
  return Number(text);
}

/** A repository that is given by its folder. @throws RevconvertError USAGE where it is missing, or a URL */
export function repositoryArgument(value: string | undefined, what = 'repository'): string {
  if (value === undefined || value === '') throw new RevconvertError('USAGE', `the ${what} is missing`);
  if (/^[a-z][a-z+]+:\/\//i.test(value)) {
    throw new RevconvertError('USAGE', `${value} is a URL: clone it first (hg clone --noupdate), then give the clone`);
  }
  return value;
}
