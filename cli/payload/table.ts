import { join } from 'node:path';
import { tableLines } from '../../lib/base/table.ts';
import { sha256OfFile } from '../../lib/host/files.ts';
import { type Payload, payloadFile } from '../../lib/payload/payload.ts';
import { isCompressed, payloadFiles, storedFiles } from '../../lib/payload/verify.ts';

/** The contents of a payload, as lines for people: a row for each file, and what pins it. */
export async function payloadTable(payload: Payload, signal: AbortSignal): Promise<string[]> {
  const { directory, architecture, versions, images, binaries } = payload;
  const rows = [
    ['KIND', 'NAME', 'SIZE', 'SHA-256', 'REFERENCE'],
    ...images.map((image) => ['image', ...fileCells(image), image.reference]),
    ...binaries.map((binary) => [
      binary.kind === 'cni' ? 'plugin' : 'binary',
      ...fileCells(binary),
      '',
    ]),
  ];
  const total = totalOf(payloadFiles(payload));
  const stored = isCompressed(payload) ? `, ${totalOf(storedFiles(payload))} compressed` : '';
  const digest = await sha256OfFile(join(directory, payloadFile), signal);
  return [
    ...tableLines(rows, [SIZE_COLUMN]),
    `Kubernetes ${versions.kubernetes}, etcd ${versions.etcd}, ${architecture}: ${images.length} images, ${binaries.length} binaries, ${total}${stored}`,
    `SHA-256 of ${payloadFile}: ${digest}`,
  ];
}

const fileCells = ({ name, size, sha256 }: { name: string; size: number; sha256: string }) => [
  name,
  sizeText(size),
  sha256.slice(0, 12),
];

const totalOf = (files: readonly { readonly size: number }[]) =>
  sizeText(files.reduce((sum, { size }) => sum + size, 0));

const SIZE_COLUMN = 2;

const sizeText = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
