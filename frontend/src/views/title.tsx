/** What a page is called: of a long title three lines (look/page.css), and all of it for who asks. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Lang } from "../engine/record";
import { COMMON, say } from "../words";

const SLACK = 8;

export function Title({ name, lang }: { name: string; lang: Lang }): JSX.Element {
  const own = useRef<HTMLHeadingElement>(null);
  const isWhole = useSignal(false);
  const isCut = useSignal(false);
  useLayoutEffect(() => {
    const heading = own.current!;
    const seen = new ResizeObserver(() => {
      const { clientHeight, scrollHeight } = heading;
      // one pixel high it is there for ears alone; tall letters reach a little below the last line
      if (!isWhole.peek()) isCut.value = clientHeight > 1 && scrollHeight > clientHeight + SLACK;
    });
    seen.observe(heading);
    return () => seen.disconnect();
  }, [name, isWhole.value]);
  return (
    <>
      <h1 ref={own} class={isWhole.value ? "whole" : undefined} title={isCut.value ? name : undefined}>{name}</h1>
      {isCut.value && (
        <button type="button" class="title-more" aria-expanded={isWhole.value} onClick={() => (isWhole.value = !isWhole.value)}>
          {say(COMMON, isWhole.value ? "title_less" : "title_more", lang)}
        </button>
      )}
    </>
  );
}
