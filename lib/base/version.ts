/** Defined by the build. */
declare const __SNO_AGENTS_VERSION__: string | undefined;

/** The product's version, such as `0.1.0+1a2b3c4d5e6f`; undefined when run from source. */
export const builtVersion: string | undefined =
  typeof __SNO_AGENTS_VERSION__ === 'undefined' ? undefined : __SNO_AGENTS_VERSION__;

/** For people and records. */
export const productVersion: string = builtVersion ?? '0.0.0-source';
