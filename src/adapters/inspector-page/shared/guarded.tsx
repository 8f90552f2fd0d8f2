/** A pane that breaks says so, and takes no other with it. */
import { Component } from 'preact';
import type { ComponentChildren } from 'preact';

interface Props {
  /** The pane, as the beginning of a sentence. */
  readonly name: string;
  readonly children: ComponentChildren;
}

interface State {
  readonly because: string | undefined;
}

export class Guarded extends Component<Props, State> {
  override state: State = { because: undefined };

  static override getDerivedStateFromError(error: unknown): State {
    return { because: error instanceof Error ? error.message : String(error) };
  }

  override render(): ComponentChildren {
    const { name, children } = this.props;
    const { because } = this.state;
    if (because === undefined) return children;
    return (
      <div class="broken" role="alert">
        <p>
          <strong>{name} could not be shown.</strong> {because}
        </p>
        <button onClick={() => this.setState({ because: undefined })}>Try again</button>
      </div>
    );
  }
}
