/** Writes SVG: elements and attributes, with everything that came from outside made harmless. */

export type Attributes = Readonly<Record<string, string | number | undefined>>;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
};

export function escaped(text: string): string {
  let harmless = '';
  for (const character of text)
    harmless += ENTITIES[character] ?? (isInXml(character.codePointAt(0) ?? 0) ? character : '\ufffd');
  return harmless;
}

/** XML 1.0 cannot hold control characters, halves of pairs, and two code points that are no characters. */
function isInXml(code: number): boolean {
  return code >= 0x20 && (code < 0xd800 || code > 0xdfff) && code !== 0xfffe && code !== 0xffff;
}

/** An element around what is inside, which has to be SVG already. Attributes that are undefined are left out. */
export function element(name: string, attributes: Attributes, ...inside: readonly string[]): string {
  const written = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}="${typeof value === 'number' ? numberText(value) : escaped(value)}"`],
  );
  const content = inside.join('');
  return content === '' ? `<${name}${written.join('')}/>` : `<${name}${written.join('')}>${content}</${name}>`;
}

/** Tenths of a pixel are enough. */
export function numberText(value: number): string {
  const rounded = Math.round(value * 10) / 10;
  return String(rounded === 0 ? 0 : rounded);
}
