/** The whole map, small, with the part that is seen; a press on it goes there. For eyes only: keys do the same. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Window } from "../../engine/map";
import type { Layer } from "../../engine/record";
import type { Mapping } from "../../look/colours";
import { pictured, pixelsOf, spread } from "./paint";
import { placeUnder } from "./surface";
import { around, wholeOf } from "./window";

const SIDE = 132;

interface Minimap {
  readonly layer: Layer;
  readonly head: number;
  readonly window: Window;
  readonly mapping: Mapping;
  readonly title: string;
  readonly look: (window: Window) => void;
}

export function Minimap({ layer, head, window, mapping, title, look }: Minimap): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const whole = wholeOf(layer);
  const height = Math.max(12, Math.min(SIDE, Math.round((SIDE * whole.rows) / whole.columns)));
  useEffect(() => {
    const on = canvas.current!;
    return pictured({ layer, head, window: whole }, SIDE, height, ({ image, covers }) => {
      [on.width, on.height] = [SIDE, height];
      spread(on, pixelsOf(image, mapping), covers, whole);
    });
  }, [layer, head, mapping, height]);
  const go = (event: PointerEvent): void => {
    if (event.buttons > 0) look(around(window, whole, placeUnder(event, whole)));
  };
  const share = (part: number, all: number): string => `${(100 * part) / all}%`;
  return (
    <div class="minimap" title={title} aria-hidden="true">
      <canvas
        ref={canvas}
        style={{ width: `${SIDE}px`, height: `${height}px` }}
        onPointerDown={go}
        onPointerMove={go}
      />
      <div
        class="seen"
        style={{
          left: share(window.column, whole.columns), width: share(window.columns, whole.columns),
          top: share(window.row, whole.rows), height: share(window.rows, whole.rows),
        }}
      />
    </div>
  );
}
