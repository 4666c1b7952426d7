import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { TestHost } from '../host/host.ts';
import { KUBELET_ACTIVE } from '../host/kubelet-unit.ts';
import { COMPONENTS, podFile } from './backup-host.ts';

export const STATE = '/var/lib/sno-agents/sno-backup-restore';
export const MOVED = `${STATE}/manifests`;
export const SAVED = `${STATE}/encryption.yaml`;
export const REBUILT = '/var/lib/etcd.rebuilt';
export const DISCARDED = '/var/lib/etcd.discarded';
const FORMER = 'the present database';

/** Whether the kubelet is. */
export const isRunning = (host: TestHost): boolean => host.has(KUBELET_ACTIVE);
/** Folders of databases, and what is beside them. */
export const databases = (host: TestHost): string[] =>
  readdirSync(host.at('/var/lib')).filter((name) => name.startsWith('etcd'));
/** Name, text and mode of files that programs look at: an interrupted write leaves hidden ones. */
export const filesIn = (host: TestHost, folder: string) =>
  readdirSync(host.at(folder))
    .filter((name) => !name.startsWith('.'))
    .map((name) => [name, host.read(`${folder}/${name}`), host.mode(`${folder}/${name}`)]);
/** Where the manifest of a component is while the control plane is stopped. */
export const movedFile = (name: string) => podFile(name).replace(dirname(podFile(name)), MOVED);
/** Components without a manifest, which nothing would start again. */
export const lost = (host: TestHost) =>
  COMPONENTS.filter((name) => !host.has(podFile(name)) && !host.has(movedFile(name)));
/** Whether the database from before the restore is in that folder. */
export const holdsFormer = (host: TestHost, folder: string): boolean =>
  host.has(folder) && host.read(`${folder}/member/snap/db`) === FORMER;
