/** The one way to write an address: what rules judge is what is sent. */

/** What means the same whether it is encoded or not. */
const UNRESERVED = /[\w.~-]/;

/**
 * A copy with nothing encoded in its path that need not be, and without the dot after its host that names the same one.
 */
export function plainAddress(url: URL): URL {
  const plain = new URL(url);
  plain.hostname = url.hostname.replace(/\.+$/, '');
  // An encoded percent sign is one: what stands after it is no code to be read again.
  plain.pathname = url.pathname.replaceAll(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return UNRESERVED.test(character) ? character : code.toUpperCase();
  });
  return plain;
}
