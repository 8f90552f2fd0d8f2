/** SHA-256 where Node may not be there. */

export async function sha256(content: string | Uint8Array): Promise<Uint8Array> {
  // A copy, since bytes may be a view of more than what is hashed.
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : Uint8Array.from(content);
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

/** As 64 hexadecimal digits. */
export async function sha256Hex(content: string | Uint8Array): Promise<string> {
  return [...(await sha256(content))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
