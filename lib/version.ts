/** Defined by the build. */
declare const __SNO_AGENTS_VERSION__: string | undefined;

/** The product's version; `0.0.0-source` where the source itself runs. */
export const productVersion: string =
  typeof __SNO_AGENTS_VERSION__ === 'undefined' ? '0.0.0-source' : __SNO_AGENTS_VERSION__;
