/** Something that stands beside a cell, over the table, where the table's own scrolling does not cut it off. */
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface BesideProps {
  readonly find: (box: HTMLElement) => HTMLElement | null;
  readonly class: string;
  readonly children: ComponentChildren;
}

/** `find` gets the nearest ancestor with class "box" and gives the element to stand under. */
export function Beside({ find, class: look, children }: BesideProps): JSX.Element {
  const own = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const box = own.current!.closest<HTMLElement>(".box")!;
    const anchor = find(box);
    if (anchor === null) return;
    const [at, around] = [anchor.getBoundingClientRect(), box.getBoundingClientRect()];
    const page = box.closest(".jumok")!.getBoundingClientRect();
    const left = Math.min(at.left, page.right - own.current!.offsetWidth - 8);
    own.current!.style.left = `${Math.max(left, page.left + 8) - around.left}px`;
    own.current!.style.top = `${at.bottom - around.top + 2}px`;
  });
  return (
    <div ref={own} class={`beside ${look}`}>
      {children}
    </div>
  );
}
