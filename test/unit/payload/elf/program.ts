export interface ProgramOptions {
  /** `e_machine`: 0x3e is amd64, 0xb7 arm64. */
  machine?: number;
  /** `e_type`: 2 is an executable. */
  type?: number;
  /** Whether it needs a dynamic loader. */
  isDynamic?: boolean;
  /** Go's module information, such as `mod\tk8s.io/kubernetes\tv1.34.4\t`. */
  modules?: string;
  /** Makes programs differ. */
  text?: string;
}

export const AMD64 = 0x3e;
export const ARM64 = 0xb7;

/** ELF program headers, as a loader and Go's linker expect them, and a text. */
export function programBytes(options: ProgramOptions = {}): Buffer {
  const { machine = AMD64, type = 2, isDynamic = false, modules, text = '' } = options;
  const segment = Buffer.alloc(56);
  segment.writeUInt32LE(isDynamic ? 3 : 1);
  const names = Buffer.from('\0.shstrtab\0.go.buildinfo\0');
  const info = modules === undefined ? Buffer.alloc(0) : buildInfo(modules);
  const namesAt = 64 + segment.length;
  const infoAt = namesAt + names.length;
  const sectionsAt = infoAt + info.length;
  const header = Buffer.alloc(64);
  header.write('\x7fELF', 'latin1');
  header.set([2, 1, 1], 4);
  header.writeUInt16LE(type, 16);
  header.writeUInt16LE(machine, 18);
  header.writeBigUInt64LE(0x400000n, 24);
  header.writeBigUInt64LE(64n, 32);
  header.writeBigUInt64LE(BigInt(sectionsAt), 40);
  for (const [at, value] of [
    [52, 64],
    [54, 56],
    [56, 1],
    [58, 64],
    [60, 3],
    [62, 1],
  ] as const) {
    header.writeUInt16LE(value, at);
  }
  const sections = [
    sectionHeader(0, 0, 0),
    sectionHeader(1, namesAt, names.length),
    sectionHeader(11, infoAt, info.length),
  ];
  return Buffer.concat([header, segment, names, info, ...sections, Buffer.from(text)]);
}

function sectionHeader(name: number, offset: number, size: number): Buffer {
  const header = Buffer.alloc(64);
  header.writeUInt32LE(name, 0);
  header.writeBigUInt64LE(BigInt(offset), 24);
  header.writeBigUInt64LE(BigInt(size), 32);
  return header;
}

function buildInfo(modules: string): Buffer {
  const mark = Buffer.alloc(16, 0x30);
  const header = Buffer.alloc(32);
  header.write('\xff Go buildinf:', 'latin1');
  header.set([8, 2], 14);
  return Buffer.concat([
    header,
    withLength(Buffer.from('go1.26')),
    withLength(Buffer.concat([mark, Buffer.from(modules), mark])),
  ]);
}

function withLength(bytes: Buffer): Buffer {
  const length = [];
  for (let rest = bytes.length; ; rest >>= 7) {
    if (rest < 0x80) return Buffer.concat([Buffer.from([...length, rest]), bytes]);
    length.push((rest & 0x7f) | 0x80);
  }
}
