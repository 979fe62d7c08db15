/** Where what is chosen can be kept and sent from: the part of a page's address behind #. */

/** Where a host keeps its address. */
export interface Address {
  read(): URLSearchParams;
  write(said: URLSearchParams): void;
  link(said: URLSearchParams): string;
  listen(changed: () => void): () => void;
}

/** The part of a page's address behind #. */
export function hashAddress(window: globalThis.Window): Address {
  const link = (said: URLSearchParams): string => `${window.location.href.split("#")[0]}#${said.toString()}`;
  return {
    read: () => new URLSearchParams(window.location.hash.slice(1)),
    write: (said) => window.history.replaceState(null, "", `#${said.toString()}`),
    link,
    listen: (changed) => {
      window.addEventListener("hashchange", changed);
      return () => window.removeEventListener("hashchange", changed);
    },
  };
}
