/** A part of the pane with what costs more to be told: it is asked for while the part is open. */
import type { ComponentChildren, JSX } from 'preact';
import { useCallback } from 'preact/hooks';
import { visibleText } from '../model/visible-text.ts';
import { Section } from './section.tsx';
import type { SessionWatch } from './session-watch.ts';
import type { SideName, SideViews, Told } from './side-views.ts';

type ValueOf<Name extends SideName> = SideViews[Name]['value'] extends Told<infer Value> ? Value : never;

export interface SideSectionProps<Name extends SideName> {
  readonly title: string;
  readonly watch: SessionWatch;
  readonly name: Name;
  readonly count: (value: ValueOf<Name>) => string;
  readonly isNone: (value: ValueOf<Name>) => boolean;
  /** Said where there is nothing. */
  readonly none: string;
  readonly isOpenAtFirst?: boolean;
  /** Above all of it. */
  readonly above?: ComponentChildren;
  readonly children: (value: ValueOf<Name>) => ComponentChildren;
}

export function SideSection<Name extends SideName>({
  title,
  watch: { sides },
  name,
  count,
  isNone,
  none,
  isOpenAtFirst = false,
  above,
  children,
}: SideSectionProps<Name>): JSX.Element {
  const { value, because } = sides[name].value as Told<ValueOf<Name>>;
  const check = useCallback(() => sides.check(name), [sides]);
  return (
    <Section
      title={title}
      isOpenAtFirst={isOpenAtFirst}
      whileOpen={check}
      aside={value === undefined ? undefined : count(value)}
    >
      {() => (
        <>
          {above}
          {because === undefined ? undefined : (
            <p class="left-out" role="status">
              Not up to date: {visibleText(because, 500)}
            </p>
          )}
          {value === undefined ? (
            because === undefined ? (
              <p class="empty">They are looked up.</p>
            ) : undefined
          ) : isNone(value) ? (
            <p class="empty">{none}</p>
          ) : (
            children(value)
          )}
        </>
      )}
    </Section>
  );
}
