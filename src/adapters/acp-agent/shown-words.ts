/**
 * What an editor has been shown of a model step while it was said, so that what the log says of it afterwards is shown
 * only as far as it is new: words may come late, be lost, or be taken back.
 */

type Kind = 'text' | 'reasoning';

interface Shown {
  /** Shown, and not in the log yet. */
  spoken: string;
  /** Characters that the log was faster with: words that still come for them are not shown again. */
  ahead: number;
  /** Something was missed: what is in the log is shown whole. */
  isTorn: boolean;
}

const TAKEN_BACK = '\n\n[This attempt failed; what it said does not count.]\n\n';

export class ShownWords {
  #shown: Record<Kind, Shown> = fresh();

  /** @returns what is to be shown now */
  said(kind: Kind, text: string): string {
    const shown = this.#shown[kind];
    if (shown.isTorn) return '';
    const known = Math.min(shown.ahead, text.length);
    shown.ahead -= known;
    const rest = text.slice(known);
    shown.spoken += rest;
    return rest;
  }

  /** The log has it. @returns what is to be shown now */
  logged(kind: Kind, text: string): string {
    const shown = this.#shown[kind];
    if (shown.isTorn) return `\n\n${text}`;
    if (shown.spoken.startsWith(text)) {
      shown.spoken = shown.spoken.slice(text.length);
      return '';
    }
    if (!text.startsWith(shown.spoken)) {
      shown.spoken = '';
      return `\n\n${text}`;
    }
    const rest = text.slice(shown.spoken.length);
    shown.spoken = '';
    shown.ahead += rest.length;
    return rest;
  }

  /** @returns what is to be shown now: what an editor shows cannot be taken back */
  takenBack(): string {
    const { text, reasoning } = this.#shown;
    const isShown = text.spoken !== '' || reasoning.spoken !== '';
    this.#shown = fresh();
    return isShown ? TAKEN_BACK : '';
  }

  lost(): void {
    for (const shown of Object.values(this.#shown)) shown.isTorn = true;
  }

  /** The step is over, and all that the log says of it has been shown. */
  reset(): void {
    this.#shown = fresh();
  }
}

function fresh(): Record<Kind, Shown> {
  return {
    text: { spoken: '', ahead: 0, isTorn: false },
    reasoning: { spoken: '', ahead: 0, isTorn: false },
  };
}
