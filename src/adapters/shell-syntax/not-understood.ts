/** Ends the reading of a command line. Never leaves this folder. */
export class NotUnderstood extends Error {
  override readonly name = 'NotUnderstood';
  readonly because: string;

  constructor(because: string) {
    super(because);
    this.because = because;
  }
}
