/** Ends a search of the disk with what people are told. Never leaves this folder. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
  readonly because: string;

  constructor(because: string) {
    super(because);
    this.because = because;
  }
}
