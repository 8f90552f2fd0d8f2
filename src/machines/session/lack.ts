/** What a session needs to be woken and a process has not got, neither in its home nor in the code that it was given. */
export interface Lack {
  readonly what: 'agent' | 'environment';
  readonly id: string;
}

/** Such as `no agent "coder"`. */
export function lackText({ what, id }: Lack): string {
  return `no ${what} ${JSON.stringify(id)}`;
}
