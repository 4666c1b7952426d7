/**
 * Strips symbol tables and debugging information from an ELF file like `strip --strip-all`. Own
 * code, since it must handle other processors than the builder's, produce the same bytes on
 * every machine, and need no system package. Only for files whose unloaded sections come after
 * all loaded ones, as linkers lay them out.
 */
const MAGIC = 0x7f454c46;
const CLASS_64 = 2;
const LITTLE_ENDIAN = 1;
const SHT_STRTAB = 3;
const SHT_NOBITS = 8;
const SHF_ALLOC = 2n;

/** Offsets in the ELF header (ELF-64 Object File Format, figure 2). */
const HEADER = { sectionsOffset: 0x28, sectionSize: 0x3a, sectionCount: 0x3c, namesIndex: 0x3e };
/** Offsets in a section header (figure 3). */
const SECTION = { name: 0, type: 4, flags: 8, offset: 24, size: 32 };
const SECTION_SIZE = 64;

interface Section {
  header: Buffer;
  name: string;
  type: number;
  isLoaded: boolean;
  /** Offset of its end in the file. */
  end: number;
}

/** Returns a new buffer; throws if the file is not such an ELF file. */
export function stripElf(file: Buffer): Buffer {
  const isKnown =
    file.length > 64 &&
    file.readUInt32BE(0) === MAGIC &&
    file[4] === CLASS_64 &&
    file[5] === LITTLE_ENDIAN &&
    file.readUInt16LE(HEADER.sectionSize) === SECTION_SIZE;
  if (!isKnown) throw new Error('expected a 64-bit little-endian ELF file');

  const [none, ...sections] = readSections(file);
  const loaded = sections.filter(({ isLoaded }) => isLoaded);
  const isInOrder = sections.slice(0, loaded.length).every(({ isLoaded }) => isLoaded);
  if (none === undefined || !isInOrder) {
    throw new Error('expected all unloaded sections of the ELF file after the loaded ones');
  }

  const body = Buffer.from(file.subarray(0, Math.max(...loaded.map(({ end }) => end))));
  const names = nameTable([...loaded.map(({ name }) => name), '.shstrtab']);
  const headers = loaded.map(({ header }, index) => {
    const copy = Buffer.from(header);
    copy.writeUInt32LE(names.offsets[index] ?? 0, SECTION.name);
    return copy;
  });
  const namesHeader = Buffer.alloc(SECTION_SIZE);
  namesHeader.writeUInt32LE(names.offsets.at(-1) ?? 0, SECTION.name);
  namesHeader.writeUInt32LE(SHT_STRTAB, SECTION.type);
  namesHeader.writeBigUInt64LE(BigInt(body.length), SECTION.offset);
  namesHeader.writeBigUInt64LE(BigInt(names.table.length), SECTION.size);
  namesHeader.writeBigUInt64LE(1n, 48);

  const headersOffset = Math.ceil((body.length + names.table.length) / 8) * 8;
  const padding = Buffer.alloc(headersOffset - body.length - names.table.length);
  body.writeBigUInt64LE(BigInt(headersOffset), HEADER.sectionsOffset);
  body.writeUInt16LE(loaded.length + 2, HEADER.sectionCount);
  body.writeUInt16LE(loaded.length + 1, HEADER.namesIndex);
  return Buffer.concat([body, names.table, padding, none.header, ...headers, namesHeader]);
}

function readSections(file: Buffer): Section[] {
  const start = Number(file.readBigUInt64LE(HEADER.sectionsOffset));
  const count = file.readUInt16LE(HEADER.sectionCount);
  const headers = Array.from({ length: count }, (_, index) => {
    const at = start + index * SECTION_SIZE;
    return file.subarray(at, at + SECTION_SIZE);
  });
  const names = headers[file.readUInt16LE(HEADER.namesIndex)];
  if (names === undefined) throw new Error('expected section names in the ELF file');
  const namesOffset = Number(names.readBigUInt64LE(SECTION.offset));
  return headers.map((header) => {
    const type = header.readUInt32LE(SECTION.type);
    const offset = Number(header.readBigUInt64LE(SECTION.offset));
    const size = type === SHT_NOBITS ? 0 : Number(header.readBigUInt64LE(SECTION.size));
    const at = namesOffset + header.readUInt32LE(SECTION.name);
    return {
      header,
      name: file.toString('latin1', at, file.indexOf(0, at)),
      type,
      isLoaded: (header.readBigUInt64LE(SECTION.flags) & SHF_ALLOC) !== 0n,
      end: offset + size,
    };
  });
}

function nameTable(names: readonly string[]): { table: Buffer; offsets: number[] } {
  const offsets: number[] = [];
  let text = '\0';
  for (const name of names) {
    offsets.push(text.length);
    text += `${name}\0`;
  }
  return { table: Buffer.from(text, 'latin1'), offsets };
}
