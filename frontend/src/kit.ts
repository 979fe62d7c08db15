/** What a second program shares with this one. build.mjs reads these lines: a name from here is never bundled again. */
export { Fragment, jsx, jsxs } from "preact/jsx-runtime";
export { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
export { batch, computed, signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
export { projected } from "./engine/chain";
export { ruleOf } from "./engine/described";
export { rowOf } from "./engine/path";
export { Damaged, Tensors } from "./engine/tensors";
export { fill, number, shown } from "./explanation/words";
export { differenceColour, weightColour } from "./look/colours";
export { Desk } from "./state";
export { nameOf } from "./views/tokens";
