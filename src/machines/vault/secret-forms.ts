/** The forms in which a secret may show in what programs put out, as bytes. White space between their characters, and capitals, are for whoever looks for them. */
import { secretParts } from './secret-parts.ts';
import { unescaped } from './unescaped.ts';
import { numberForms } from './word-forms.ts';

/** Parts of one secret that are looked for in every form. Those beyond are looked for as they are. */
const MAX_PARTS_IN_ALL_FORMS = 200;

/** Bytes of what is looked for in base32, in numbers and backwards too: keys of several lines are not written so. */
const MAX_TYPED_BYTES = 4_096;

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Each is told by its bytes; those that are the same come once. */
export function secretForms(value: string): readonly Uint8Array[] {
  const trimmed = value.trim();
  const parts = secretParts(trimmed);
  const forms = [trimmed, ...parts.slice(0, MAX_PARTS_IN_ALL_FORMS)].flatMap(formsOfText).concat(parts.slice(MAX_PARTS_IN_ALL_FORMS).map(encode));
  const known = new Map(forms.map((form) => [keyOf(form), form]));
  return [...known.values()];
}

function formsOfText(text: string): Uint8Array[] {
  const bytes = encode(text);
  const hex = hexOf(bytes);
  const written = [text, ...formsForPages(text), ...hexForms(hex), ...base64Forms(bytes), ...(bytes.length > MAX_TYPED_BYTES ? [] : [...base32Forms(bytes), Array.from(text).toReversed().join(''), ...numberForms(bytes), ...wideForms(bytes)])].map(encode);
  return [...written, ...written.flatMap(unescapedForm), ...surrogateForm(text), ...byteForm(bytes)];
}

/** What is left of it where escapes are resolved: a secret may look as if something in it were escaped. */
function unescapedForm(bytes: Uint8Array): Uint8Array[] {
  const read = unescaped(bytes)?.bytes;
  return read === undefined ? [] : [read.slice()];
}

/** Each byte as a character of its own, as `\xce\xa9` and `\316\251` are read. */
function byteForm(bytes: Uint8Array): Uint8Array[] {
  return bytes.some((byte) => byte >= 0x80) ? [encode(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))] : [];
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
  return [hex, pairs.join(':'), pairs.map((pair) => `\\x${pair}`).join(''), pairs.map((pair) => `0x${pair}`).join(','), pairs.join('-')];
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

/** As base64: five bytes are eight characters, so what stands before it moves it by up to four. */
function base32Forms(bytes: Uint8Array): string[] {
  return [0, 1, 2, 3, 4].map((moved) => {
    const bits = [...new Uint8Array(moved), ...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
    const digits = bits.match(/.{5}/g) ?? [];
    return digits.map((digit) => BASE32[Number.parseInt(digit, 2)]).slice(Math.ceil((moved * 8) / 5)).join('');
  });
}

/** With two bytes for each character, as Windows has them. */
function wideForms(bytes: Uint8Array): string[] {
  const wide = Uint8Array.from({ length: 2 * bytes.length }, (_, at) => (at % 2 === 0 ? (bytes[at / 2] ?? 0) : 0));
  return [hexOf(wide.subarray(0, -1)), ...base64Forms(wide)];
}

/** Characters beyond the first plane, as `\u` writes them: in two halves. */
function surrogateForm(text: string): Uint8Array[] {
  if (!/[\u{10000}-\u{10FFFF}]/u.test(text)) return [];
  const written = Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
  const bytes = unescaped(encode(written))?.bytes.slice();
  return bytes === undefined ? [] : [bytes];
}

/** Each byte as a character: far quicker than a list of numbers. */
function keyOf(bytes: Uint8Array): string {
  return new TextDecoder('latin1').decode(bytes);
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
