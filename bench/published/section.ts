/** Where the results of `npm run bench:published` stand in a document. */
export const BEGIN = '<!-- published: begin -->';
export const END = '<!-- published: end -->';

/**
 * Puts a text between the two markers of a document, in the place of what is there; all else stays as it is.
 * @throws Error where a marker is missing, comes twice, or both are in the wrong order
 */
export function replaceSection(document: string, text: string): string {
  const begin = soleIndex(document, BEGIN) + BEGIN.length;
  const end = soleIndex(document, END);
  if (end < begin) throw new Error(`'${END}' stands before '${BEGIN}'`);
  return `${document.slice(0, begin)}\n\n${text.trim()}\n\n${document.slice(end)}`;
}

function soleIndex(document: string, marker: string): number {
  const index = document.indexOf(marker);
  if (index < 0) throw new Error(`the line '${marker}' is missing`);
  if (document.includes(marker, index + 1)) throw new Error(`the line '${marker}' is there more than once`);
  return index;
}
