/** Where the results of a bench stand in a document: between two marks with its name. */
export const beginOf = (name: string): string => `<!-- ${name}: begin -->`;
export const endOf = (name: string): string => `<!-- ${name}: end -->`;

/**
 * Puts a text between the two marks of a document, in the place of what is there; all else stays as it is.
 * @throws Error where a mark is missing, comes twice, or both are in the wrong order
 */
export function replaceSection(document: string, name: string, text: string): string {
  const begin = soleIndex(document, beginOf(name)) + beginOf(name).length;
  const end = soleIndex(document, endOf(name));
  if (end < begin) throw new Error(`'${endOf(name)}' stands before '${beginOf(name)}'`);
  return `${document.slice(0, begin)}\n\n${text.trim()}\n\n${document.slice(end)}`;
}

function soleIndex(document: string, marker: string): number {
  const index = document.indexOf(marker);
  if (index < 0) throw new Error(`the line '${marker}' is missing`);
  if (document.includes(marker, index + 1)) throw new Error(`the line '${marker}' is there more than once`);
  return index;
}
