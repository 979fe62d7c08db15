/** What a second program shares with this one. build.mjs reads these lines: a name from here is never bundled again. */
export { Fragment, jsx, jsxs } from "preact/jsx-runtime";
export { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
export { batch, computed, signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
export { projected } from "./engine/chain";
export { ruleOf } from "./engine/described";
export { kvHeadOf, namesOf, namesOfTokens, outputRowOf, rowOf, stageOf, weightAt } from "./engine/path";
export { dot } from "./engine/products";
export { allowedAt, scaleOf } from "./engine/rule";
export { Damaged, Tensors } from "./engine/tensors";
export { fill, fixed, number, shown } from "./explanation/words";
export { isolated } from "./isolated";
export { differenceColour, weightColour } from "./look/colours";
export { Desk } from "./state";
export { SYMBOLS } from "./views/stages/names";
export { nameOf, TokenText } from "./views/tokens";
export { say } from "./words";
