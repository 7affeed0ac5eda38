/** What is wrong with a text that should be JSON. */
export interface JsonFault {
  /** Both counted from 1, in characters. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/**
 * The first fault of a JSON text. `JSON.parse` does not always say where it is, and takes the last of two values of
 * one key without a word.
 * @returns undefined where it is sound
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: Level[] = [];
  let expected: Expected = 'value';
  for (let at = skipSpace(text, 0); expected !== 'end' || at < text.length; at = skipSpace(text, at)) {
    const token = tokenAt(text, at);
    const level = open.at(-1);
    const next = step(token, expected, level);
    if (next === undefined) return faultAt(text, at, token, expected);
    if (token.kind === 'string' && (expected === 'key' || expected === 'first key')) {
      const key = JSON.parse(token.text) as string;
      if (level?.keys?.has(key) === true) return { ...placeOf(text, at), message: `the key ${token.text} is there twice` };
      level?.keys?.add(key);
    }
    if (token.text === '{' || token.text === '[') open.push({ close: token.text === '{' ? '}' : ']', keys: token.text === '{' ? new Set() : undefined });
    if (token.text === '}' || token.text === ']') open.pop();
    expected = next === 'after value' && open.length === 0 ? 'end' : next;
    at += token.text.length;
  }
  return undefined;
}

type Expected = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'after value' | 'end';

/** An object or a list that is not closed yet. */
interface Level {
  readonly close: '}' | ']';
  /** Keys so far, of an object. */
  readonly keys: Set<string> | undefined;
}

interface Token {
  readonly kind: 'mark' | 'string' | 'word' | 'none';
  readonly text: string;
}

const TOKEN = /([{}[\],:])|("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|((?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-]))/y;

function tokenAt(text: string, at: number): Token {
  TOKEN.lastIndex = at;
  const match = TOKEN.exec(text);
  if (match === null) return { kind: 'none', text: '' };
  return { kind: match[1] !== undefined ? 'mark' : match[2] !== undefined ? 'string' : 'word', text: match[0] };
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text[at] ?? '')) at++;
  return at;
}

/** What may come behind a token; undefined: the token may not be there. */
function step({ kind, text }: Token, expected: Expected, level: Level | undefined): Expected | undefined {
  if (text === level?.close) return MAY_CLOSE.has(expected) ? 'after value' : undefined;
  switch (expected) {
    case 'first key':
    case 'key':
      return kind === 'string' ? 'colon' : undefined;
    case 'colon':
      return text === ':' ? 'value' : undefined;
    case 'first value':
    case 'value':
      if (text === '{') return 'first key';
      if (text === '[') return 'first value';
      return kind === 'string' || kind === 'word' ? 'after value' : undefined;
    case 'after value':
      if (text !== ',') return undefined;
      return level?.close === '}' ? 'key' : 'value';
    case 'end':
      return undefined;
  }
}

const MAY_CLOSE: ReadonlySet<Expected> = new Set(['first key', 'first value', 'after value'] as const);

const NAMES: Readonly<Record<Expected, string>> = {
  'value': 'a value',
  'first value': 'a value or ]',
  'key': 'a key in double quotes',
  'first key': 'a key in double quotes, or }',
  'colon': 'a colon',
  'after value': 'a comma, or the end of the object or list',
  'end': 'the end of the text',
};

function faultAt(text: string, at: number, token: Token, expected: Expected): JsonFault {
  const rest = text.slice(at, at + 20).split(/[\r\n]/, 1)[0] ?? '';
  const found = at >= text.length ? 'the end of the text' : JSON.stringify(token.text === '' ? rest : token.text.slice(0, 20));
  return { ...placeOf(text, at), message: `${NAMES[expected]} is expected, found ${found}` };
}

function placeOf(text: string, at: number): Pick<JsonFault, 'line' | 'column'> {
  const lines = text.slice(0, at).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
