/** The forms in which a secret may show in what programs put out, as bytes. White space between their characters is for whoever looks for them. */
import { MAX_NESTING, unescaped } from './unescaped.ts';

/** A part of a secret counts on its own from this length on, when it looks like a key: the lines of one that is kept in several. */
const MIN_PART_CHARACTERS = 32;
const PART = /^[A-Za-z0-9+/=_-]+$/;

/** Each is told by its bytes; those that are the same come once. */
export function secretForms(value: string): readonly Uint8Array[] {
  const trimmed = value.trim();
  const forms = [...formsOfText(trimmed), ...partsOf(trimmed).flatMap((part) => formsOfText(part))];
  const known = new Map(forms.map((form) => [form.join(), form]));
  return [...known.values()];
}

function formsOfText(text: string): Uint8Array[] {
  const bytes = encode(text);
  const hex = hexOf(bytes);
  const written = [text, ...formsForPages(text), ...hexForms(hex), ...base64Forms(bytes)].map(encode);
  return [...written, ...unescapedForms(bytes), ...surrogateForm(text)];
}

/** A secret may look as if something in it were escaped. */
function unescapedForms(bytes: Uint8Array): Uint8Array[] {
  const forms: Uint8Array[] = [];
  for (let left = MAX_NESTING, form = unescaped(bytes); form !== undefined && left > 0; left -= 1, form = unescaped(form.bytes)) forms.push(form.bytes.slice());
  return forms;
}

/** As forms of pages send it, and as HTML and XML show it. */
function formsForPages(text: string): string[] {
  const html = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = ['&quot;', '&#34;'].flatMap((quote) => ["&#39;", '&apos;', '&#x27;'].map((apostrophe) => html.replaceAll('"', quote).replaceAll("'", apostrophe)));
  return [text.replaceAll(' ', '+'), html, ...quoted, text.replaceAll("'", `'\\''`)];
}

/** With the signs that programs set between the pairs; spaces need none. */
function hexForms(hex: string): string[] {
  const pairs = hex.match(/../g) ?? [];
  const forms = [hex, pairs.join(':'), pairs.map((pair) => `\\x${pair}`).join(''), pairs.map((pair) => `0x${pair}`).join(','), pairs.join('-')];
  return [...forms, ...forms.map((form) => form.toUpperCase())];
}

/** As it is, and as it shows within something longer, such as `user:secret`: what stands before it moves it by up to two bytes. */
function base64Forms(bytes: Uint8Array): string[] {
  const forms = [0, 1, 2].map((moved) => {
    const encoded = base64Of(new Uint8Array([...new Uint8Array(moved), ...bytes])).replace(/=+$/, '');
    // The characters at its ends are made of what stands beside it too.
    return encoded.slice(Math.ceil((moved * 4) / 3), (moved + bytes.length) % 3 === 0 ? undefined : -1);
  });
  return [...forms, base64Of(bytes).replace(/=+$/, '')].flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}

/** Lines of a key that has several, and those of keys that lie in JSON, as accounts of services are given. */
function partsOf(text: string): string[] {
  const lines = [text, ...textsIn(text)].flatMap((each) => each.split(/\r?\n/)).map((line) => line.trim());
  return lines.filter((line) => line !== text && line.length >= MIN_PART_CHARACTERS && !line.startsWith('-----') && PART.test(line));
}

function textsIn(text: string): string[] {
  if (!text.startsWith('{')) return [];
  try {
    return Object.values(JSON.parse(text) as object).filter((value) => typeof value === 'string');
  } catch {
    return [];
  }
}

/** Characters beyond the first plane, as `\u` writes them: in two halves. */
function surrogateForm(text: string): Uint8Array[] {
  if (!/[\u{10000}-\u{10FFFF}]/u.test(text)) return [];
  const written = Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
  const bytes = unescaped(encode(written))?.bytes.slice();
  return bytes === undefined ? [] : [bytes];
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function base64Of(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
