/** The program of a page of measured heads, built into static/measured.js: it needs no other. */
import { render } from "preact";
import { hashAddress } from "../../hosts/address";
import { COMMON, say } from "../../words";
import pageCss from "../../look/page.css";
import { App } from "./app";
import { Choice } from "./choice";
import { opened } from "./measured";
import css from "./measured.css";

interface Opening {
  readonly view: Readonly<Record<string, string>>;
  readonly title: string | null;
}

async function draw(page: HTMLElement): Promise<void> {
  const root = document.createElement("div");
  const style = document.createElement("style");
  style.textContent = pageCss + css;
  root.className = "jumok";
  page.append(style, root);
  try {
    const { view, title } = JSON.parse(textOf("jumok-model")) as Opening;
    const measured = await opened(textOf("jumok-measured"));
    render(<App choice={new Choice(measured, view, hashAddress(window))} title={title} />, root);
    root.dataset.ready = "true";
  } catch (error) {
    root.setAttribute("role", "alert");
    root.textContent = say(COMMON, "failed", "en", { reason: error instanceof Error ? error.message : String(error) });
  }
}

function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

const page = document.getElementById("jumok-page");
if (page !== null) void draw(page);
