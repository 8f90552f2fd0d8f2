/** Draws a component again when a signal that it has read changes. */
import { effect } from '@preact/signals';
import { Component, Fragment, options } from 'preact';
import type { ComponentChildren, ComponentClass, FunctionComponent } from 'preact';

const drawn = new WeakMap<FunctionComponent, ComponentClass>();

function drawnBy(type: FunctionComponent): ComponentClass {
  const found =
    drawn.get(type) ??
    class extends Component {
      #stop: (() => void) | undefined;

      override componentWillUnmount(): void {
        this.#stop?.();
      }

      override render(): ComponentChildren {
        let shown: ComponentChildren;
        let isDrawn = false;
        this.#stop?.();
        this.#stop = effect(() => {
          // The second time something has changed: drawing it makes an effect anew.
          if (isDrawn) this.setState({});
          else shown = type(this.props);
          isDrawn = true;
        });
        return shown;
      }
    };
  drawn.set(type, found);
  return found;
}

/** From now on, of every component that is a function. */
export function drawWithSignals(): void {
  options.vnode = (vnode) => {
    const { type } = vnode;
    if (typeof type === 'function' && type !== Fragment && !(type.prototype instanceof Component))
      vnode.type = drawnBy(type as FunctionComponent);
  };
}
