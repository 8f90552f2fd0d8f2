/**
 * The forms in which a secret may show in what programs put out, as bytes. How they are escaped, wrapped and colored is
 * for those who read the text.
 */
import { secretParts } from './secret-parts.ts';
import { fullyUnescaped } from './unescaped.ts';

/** Parts of one secret that are searched for in every form. Those beyond are searched for as they are. */
const MAX_PARTS_IN_ALL_FORMS = 200;

/** Bytes of what is searched for in numbers too: keys of several lines are not written so. */
const MAX_NUMBERED_BYTES = 4_096;

export interface SecretForm {
  readonly bytes: Uint8Array;
  /** What it is a form of: the secret, or a part of it. */
  readonly text: string;
}

/** Each is told by its bytes; those that are the same come once. The value itself is the first. */
export function secretForms(value: string): readonly SecretForm[] {
  const trimmed = value.trim();
  const parts = secretParts(trimmed);
  const plain = parts.slice(MAX_PARTS_IN_ALL_FORMS).map((text) => ({ text, bytes: encode(text) }));
  const forms = [trimmed, ...parts.slice(0, MAX_PARTS_IN_ALL_FORMS)].flatMap(formsOfText).concat(plain);
  const known = new Map<string, SecretForm>();
  for (const form of forms) if (!known.has(keyOf(form.bytes))) known.set(keyOf(form.bytes), form);
  return [...known.values()];
}

function formsOfText(text: string): SecretForm[] {
  const bytes = encode(text);
  const numbers = bytes.length > MAX_NUMBERED_BYTES ? [] : [Array.from(bytes).join(',')];
  const written = [
    text,
    text.replaceAll(' ', '+'),
    ...quotedForms(text),
    ...hexForms(bytes),
    ...base64Forms(bytes),
    ...numbers,
  ].map(encode);
  // A secret may look as if something in it were escaped.
  return [...written, ...written.flatMap((form) => fullyUnescaped(form)?.bytes.slice() ?? [])].map((form) => ({
    text,
    bytes: form,
  }));
}

/** As shells and languages write an apostrophe within apostrophes. */
function quotedForms(text: string): string[] {
  return text.includes("'") ? [`'\\''`, `'"'"'`].map((quote) => text.replaceAll("'", quote)) : [];
}

/** With the signs that programs set between the pairs; spaces need none. */
function hexForms(bytes: Uint8Array): string[] {
  const pairs = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  return [
    pairs.join(''),
    pairs.join(':'),
    pairs.join('-'),
    ...['', ','].map((sign) => pairs.map((pair) => `0x${pair}`).join(sign)),
  ];
}

/**
 * As it is, and as it shows within something longer, such as `user:secret`: what stands before it moves it by up to two
 * bytes.
 */
function base64Forms(bytes: Uint8Array): string[] {
  const forms = [0, 1, 2].map((moved) => {
    const encoded = base64Of(new Uint8Array([...new Uint8Array(moved), ...bytes])).replace(/=+$/, '');
    // The characters at its ends are made of what stands beside it too.
    return encoded.slice(Math.ceil((moved * 4) / 3), (moved + bytes.length) % 3 === 0 ? undefined : -1);
  });
  return [...forms, base64Of(bytes).replace(/=+$/, '')].flatMap((form) => [
    form,
    form.replaceAll('+', '-').replaceAll('/', '_'),
  ]);
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
