import type { PayloadDescription } from '../../lib/payload/payload.ts';

/** What a payload consists of, as lines for people: a row for each file. */
export function payloadTable({
  architecture,
  versions,
  images,
  binaries,
}: PayloadDescription): string[] {
  const rows = [
    ['KIND', 'NAME', 'SIZE', 'SHA-256', 'REFERENCE'],
    ...images.map(({ name, size, sha256, reference }) => [
      'image',
      name,
      sizeText(size),
      sha256.slice(0, 12),
      reference,
    ]),
    ...binaries.map(({ name, kind, size, sha256 }) => [
      kind === 'cni' ? 'plugin' : 'binary',
      name,
      sizeText(size),
      sha256.slice(0, 12),
      '',
    ]),
  ];
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  const total = [...images, ...binaries].reduce((sum, { size }) => sum + size, 0);
  return [
    ...rows.map((row) => lineOf(row, widths)),
    `Kubernetes ${versions.kubernetes}, etcd ${versions.etcd}, ${architecture}: ${images.length} images, ${binaries.length} binaries, ${sizeText(total)}`,
  ];
}

const SIZE_COLUMN = 2;

function lineOf(row: readonly string[], widths: readonly number[]): string {
  return row
    .map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === SIZE_COLUMN ? cell.padStart(width) : cell.padEnd(width);
    })
    .join('  ')
    .trimEnd();
}

const sizeText = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
