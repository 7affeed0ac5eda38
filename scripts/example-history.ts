/**
 * The history of the example repository: a small made-up C library that grows over two months.
 * Text is put together from fixed phrases by a fixed rule, so that it reads and compresses like source code.
 */
import type { HgSession } from '../test/support/hg-session.js';
import { Committer } from '../test/support/histories.js';

const FIRST_DATE = 1_700_000_000;
const STEP_SECONDS = 87_211;

const AUTHORS = ['ada <ada@example.com>', 'grace <grace@example.com>', 'linus <linus@example.com>', 'barbara <barbara@example.com>'];

const MODULES = [
  'buffer', 'cache', 'channel', 'codec', 'config', 'cursor', 'digest', 'event', 'filter', 'format',
  'heap', 'index', 'journal', 'lexer', 'list', 'logger', 'matrix', 'parser', 'pool', 'queue',
  'reader', 'region', 'sampler', 'scanner', 'signal', 'socket', 'table', 'timer', 'tree', 'writer',
] as const;

const NOUNS = [
  'block', 'byte', 'capacity', 'checksum', 'child', 'column', 'count', 'cursor', 'delay', 'depth', 'edge', 'entry', 'extent',
  'field', 'flag', 'frame', 'handle', 'header', 'height', 'identifier', 'interval', 'item', 'key', 'label', 'leaf', 'length',
  'level', 'limit', 'line', 'marker', 'message', 'name', 'node', 'offset', 'owner', 'packet', 'page', 'parent', 'position',
  'prefix', 'priority', 'range', 'record', 'region', 'root', 'row', 'sample', 'score', 'segment', 'sequence', 'size', 'slot',
  'span', 'state', 'stride', 'suffix', 'symbol', 'threshold', 'token', 'total', 'value', 'vector', 'version', 'weight', 'width', 'window',
] as const;

const VERBS = [
  'acquire', 'append', 'attach', 'balance', 'check', 'clear', 'close', 'collect', 'compare', 'compute', 'copy', 'count', 'decode',
  'detach', 'drain', 'encode', 'expand', 'extend', 'fetch', 'fill', 'find', 'flush', 'free', 'insert', 'join', 'load', 'lock', 'merge',
  'move', 'normalise', 'open', 'parse', 'peek', 'push', 'read', 'release', 'remove', 'rename', 'reset', 'resize', 'restore', 'rotate',
  'save', 'scan', 'seek', 'select', 'shift', 'shrink', 'skip', 'sort', 'split', 'store', 'swap', 'trim', 'update', 'validate', 'visit', 'write',
] as const;

const REASONS = [
  'callers may hold the lock already', 'an empty input is legal', 'the last slot is kept free', 'the order matters to the reader',
  'older files lack this field', 'the limit is part of the format', 'a failure here must not lose data', 'the value fits in 32 bits',
  'this runs before any thread is started', 'the table is sorted by key', 'zero means that it was never set', 'the owner frees it',
] as const;

/** A small generator of numbers: the same seed gives the same choices. */
class Choices {
  #state: number;

  constructor(seed: number) {
    const mixed = Math.imul(seed ^ (seed >>> 16), 0x45d9_f3b);
    this.#state = Math.imul(mixed ^ (mixed >>> 15), 0x45d9_f3b) >>> 0;
    this.below(1);
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 0x1_0000_0000) * limit);
  }

  of(items: readonly string[]): string {
    return items[this.below(items.length)] ?? '';
  }
}

function statement(choices: Choices, module: string): string {
  const a = choices.of(NOUNS);
  const b = choices.of(NOUNS);
  const number = choices.below(900) + 2;
  const verb = choices.of(VERBS);
  const shapes = [
    `${a} = ${module}->${b} + ${number};`,
    `if (${a} > ${module}->${b})\n\t\treturn ${module}_error(${module}, "${a} exceeds ${b}");`,
    `for (size_t at = 0; at < ${module}->${a}; at += ${number})\n\t\t${module}_${verb}_${b}(${module}, at);`,
    `${module}->${a} = ${verb}_${b}(${a}, ${number});`,
    `/* ${choices.of(REASONS)} */\n\t${module}->${b} -= ${a};`,
    `while (${module}->${a} && ${b} < ${number})\n\t\t${b} += ${module}->${a}->${choices.of(NOUNS)};`,
    `memcpy(${module}->${a}, ${b}, ${number} * sizeof(*${b}));`,
    `${a} = ${module}_${verb}(${module}, ${b}, ${number});`,
  ];
  return `\t${shapes[choices.below(shapes.length)] ?? ''}`;
}

/** One function of a module; `revision` changes one of its statements. */
function functionText(module: string, number: number, revision: number): string {
  const choices = new Choices(number * 7919 + module.length * 104_729 + module.charCodeAt(0));
  const name = `${module}_${choices.of(VERBS)}_${choices.of(NOUNS)}`;
  const body = Array.from({ length: 6 + choices.below(10) }, () => statement(choices, module));
  if (revision > 0) body[revision % body.length] = statement(new Choices(number * 31 + revision * 1009), module);
  const summary = `/* ${choices.of(VERBS)}s the ${choices.of(NOUNS)} of a ${module}; ${choices.of(REASONS)} */`;
  return `${summary}\nint ${name}(struct ${module} *${module}, size_t ${choices.of(NOUNS)})\n{\n${body.join('\n')}\n\treturn 0;\n}\n`;
}

const sourceFile = (module: string, revisions: readonly number[]): string =>
  [
    `/* ${module}.c: the ${module} of the library */\n#include "${module}.h"\n`,
    ...revisions.map((revision, number) => functionText(module, number, revision)),
  ].join('\n');

const headerFile = (module: string): string => {
  const choices = new Choices(module.length * 17 + module.charCodeAt(1));
  const fields = Array.from({ length: 12 }, () => `\tsize_t ${choices.of(NOUNS)};`);
  return `#pragma once\n#include <stddef.h>\n\nstruct ${module} {\n${[...new Set(fields)].join('\n')}\n};\n`;
};

const manualPage = (module: string, paragraphs: number): string => {
  const choices = new Choices(module.length * 29 + module.charCodeAt(2));
  const paragraph = (): string =>
    Array.from(
      { length: 4 },
      () => `To ${choices.of(VERBS)} a ${choices.of(NOUNS)}, first ${choices.of(VERBS)} its ${choices.of(NOUNS)}: ${choices.of(REASONS)}.`,
    ).join('\n');
  return `# ${module}\n\n${Array.from({ length: paragraphs }, paragraph).join('\n\n')}\n`;
};

/** The library as it grows: how often each function of each module was changed. */
class Library {
  readonly #functions = new Map<string, number[]>();

  /** Adds a module, or functions to one. */
  grow(module: string, functions: number): void {
    const known = this.#functions.get(module) ?? [];
    this.#functions.set(module, [...known, ...Array.from({ length: functions }, () => 0)]);
  }

  /** Changes some functions of a module. */
  change(module: string, choices: Choices, times: number): void {
    const functions = this.#functions.get(module) ?? [];
    for (let time = 0; time < times; time++) {
      const number = choices.below(functions.length);
      functions[number] = (functions[number] ?? 0) + 1;
    }
  }

  text(module: string): string {
    return sourceFile(module, this.#functions.get(module) ?? []);
  }

  get modules(): string[] {
    return [...this.#functions.keys()];
  }
}

/** About sixty changesets: modules are added, changed and described; one release branch is made and merged. */
export async function exampleHistory(session: HgSession): Promise<void> {
  const work = new Committer(session);
  const library = new Library();
  const renamed = new Map<string, string>();
  let commits = 0;
  const commit = async (message: string): Promise<void> => {
    const author = AUTHORS[(commits * 7) % AUTHORS.length] ?? '';
    const date = `${FIRST_DATE + commits * STEP_SECONDS} 0`;
    await session.run('commit', '--addremove', '--date', date, '--user', author, '--message', message);
    commits++;
  };
  const tag = async (name: string): Promise<void> => {
    await session.run('tag', '--date', `${FIRST_DATE + commits * STEP_SECONDS} 0`, '--user', AUTHORS[0] ?? '', name);
    commits++;
  };
  const add = async (module: string, functions: number): Promise<void> => {
    library.grow(module, functions);
    work.write(`src/${module}.c`, library.text(module));
    work.write(`src/${module}.h`, headerFile(module));
    await commit(`${module}: new module\n\nWith its first ${functions} functions.`);
  };
  const change = async (seed: number): Promise<void> => {
    const choices = new Choices(seed);
    const module = choices.of(library.modules);
    if (choices.below(3) === 0) library.grow(module, 2);
    library.change(module, choices, 1 + choices.below(4));
    work.write(`src/${renamed.get(module) ?? module}.c`, library.text(module));
    await commit(`${module}: ${choices.of(VERBS)} the ${choices.of(NOUNS)} when the ${choices.of(NOUNS)} is short`);
  };

  work.write('readme.md', `# The example library\n\n${manualPage('library', 3)}`);
  work.write('makefile', `objects = ${MODULES.map((module) => `src/${module}.o`).join(' ')}\n\nlibrary.a: $(objects)\n\tar rc $@ $^\n`);
  await commit('the first files');
  for (const [number, module] of MODULES.entries()) {
    await add(module, 20 + ((number * 5) % 9));
    if (number % 3 === 2) await change(number);
    if (number === 14) await tag('0.1');
  }
  for (const module of MODULES.slice(0, 10)) work.write(`docs/${module}.md`, manualPage(module, 5));
  await commit('describe the first modules');
  const [base] = (await session.run('log', '--rev', '.', '--template', '{node}')).split('\n');
  await session.run('branch', 'stable');
  for (const seed of [100, 101]) await change(seed);
  await session.run('update', base ?? 'tip');
  for (let seed = 200; seed < 208; seed++) await change(seed);
  await session.run('merge', '--tool', ':local', 'stable');
  await commit('merge the stable branch');
  await session.run('rename', 'src/heap.c', 'src/arena.c');
  renamed.set('heap', 'arena');
  await commit('call the heap what it is');
  for (let seed = 300; seed < 304; seed++) await change(seed);
  await tag('0.2');
  await session.run('phase', '--public', '--rev', 'all()');
}
