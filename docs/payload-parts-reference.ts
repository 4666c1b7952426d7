import {
  COMPANIONS,
  DOWNLOAD_ADDRESSES,
  IMAGE_ADDRESSES,
  INDEPENDENT,
  newestVersionUrl,
} from '../cli/payload/fetch/upstream.ts';
import { row, table } from './markdown-table.ts';

/** Where `sno create payload --kubernetes` fetches each part, as Markdown. */
export function payloadPartsReference(): string {
  const code = (text: string) => `\`${text}\``;
  return `# Where the parts of a payload come from

Generated from the code by \`docs/generate.ts\`; do not edit. How they are fetched is in
[A payload that is fetched](../payload.md#a-payload-that-is-fetched).

The addresses were read in the sources and documentation of these projects. They were not tried: tests serve a registry and
sites that are laid out like them.

## Images

${table(
  ['Image', 'Reference'],
  IMAGE_ADDRESSES.map(({ name, reference }) => row([code(name), code(reference)])),
)}

## Programs

${table(
  ['Part', 'Gives', 'URL', 'SHA-256'],
  DOWNLOAD_ADDRESSES.map(({ name, url, checksums, programs }) =>
    row([code(name), (programs ?? [name]).map(code).join(', '), code(url), code(checksums)]),
  ),
)}

The newest version: \`${newestVersionUrl('stable')}\`, and \`${newestVersionUrl('stable-1.37')}\` of a minor version.

## Versions

\`{kubernetes}\` is that of \`--kubernetes\`, \`{arch}\` that of \`--arch\`, \`{flannel}\` is ${INDEPENDENT.flannel}, and \`{localPath}\`
is ${INDEPENDENT.localPath}. \`{etcd}\` is that of \`--etcd-version\`; without it, it and the others are those that upstream releases
Kubernetes with. A newer minor version than the last one gets those of the last one.

${table(
  ['Kubernetes', '`{etcd}`', '`{coredns}`', '`{pause}`', '`{cni}`'],
  COMPANIONS.toReversed().map(({ minor, etcd, coredns, pause, cni }) =>
    row([minor, etcd, coredns, pause, cni]),
  ),
)}
`;
}
