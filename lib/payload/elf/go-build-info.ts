/** A module of a Go program, with its version such as `v1.34.4`. */
export interface GoModule {
  path: string;
  version: string;
}

/** What Go's linker records in a program. */
export interface GoBuildInfo {
  /** Import path of the main package, such as `k8s.io/kubernetes/cmd/kubelet`. */
  mainPackage?: string;
  /** The main package's module; absent if its version is `(devel)`. */
  module?: GoModule;
}

const MAGIC = '\xff Go buildinf:';
const STRINGS_INLINE = 2;
const HEADER_BYTES = 32;
/** The module text is enclosed in two marks of this length. */
const MARK_BYTES = 16;

/**
 * The main package and its module, as recorded by Go's linker since 1.18 (the
 * format of Go's package debug/buildinfo). Empty if nothing is recorded.
 */
export function parseBuildInfo(section: Buffer): GoBuildInfo {
  if (section.subarray(0, 14).toString('latin1') !== MAGIC) return {};
  if (((section[15] ?? 0) & STRINGS_INLINE) === 0) return {};
  const goVersion = textAt(section, HEADER_BYTES);
  const modules = goVersion && textAt(section, goVersion.end);
  if (modules === undefined) return {};
  const text = modules.bytes.subarray(MARK_BYTES, -MARK_BYTES).toString('utf8');
  const [, mainPackage] = /^path\t([^\t\n]+)$/m.exec(text) ?? [];
  const [, path, version] = /^mod\t([^\t\n]+)\t(v[^\t\n]+)/m.exec(text) ?? [];
  return {
    ...(mainPackage === undefined ? {} : { mainPackage }),
    ...(path === undefined || version === undefined ? {} : { module: { path, version } }),
  };
}

/** A text preceded by its length, which is a varint. */
function textAt(section: Buffer, start: number): { bytes: Buffer; end: number } | undefined {
  let length = 0;
  for (let index = 0; index < 4; index++) {
    const byte = section[start + index];
    if (byte === undefined) return undefined;
    length |= (byte & 0x7f) << (7 * index);
    if (byte < 0x80) {
      const end = start + index + 1 + length;
      return end > section.length
        ? undefined
        : { bytes: section.subarray(start + index + 1, end), end };
    }
  }
  return undefined;
}
