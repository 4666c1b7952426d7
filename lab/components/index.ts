import { payload } from '../payload.ts';
import { cniPlugins } from './cni-plugins.ts';
import type { Component, EnsureOptions } from './component.ts';
import { ensureComponent } from './component.ts';
import { coreosInstaller } from './coreos-installer.ts';
import { etcd } from './etcd.ts';
import { kubernetes } from './kubernetes.ts';
import { liveIso } from './live-iso.ts';
import { osImage } from './os-image.ts';
import { pause } from './pause.ts';
import { rootFilesystem } from './root-filesystem.ts';

/** Folders of all components that the scenarios use. */
export interface Components {
  readonly kubernetes: string;
  readonly etcd: string;
  readonly cniPlugins: string;
  readonly pause: string;
  readonly rootFilesystem: string;
  readonly coreosInstaller: string;
  readonly osImage: string;
  readonly liveIso: string;
  readonly payload: string;
}

/** In build order: the Go components first, since they take longest. */
export const componentsInOrder: Readonly<Record<keyof Components, Component>> = {
  kubernetes,
  rootFilesystem,
  coreosInstaller,
  osImage,
  liveIso,
  etcd,
  cniPlugins,
  pause,
  payload,
};

export async function ensureComponents(options: EnsureOptions): Promise<Components> {
  const all = componentsInOrder;
  const pending = {
    kubernetes: ensureComponent(all.kubernetes, options),
    rootFilesystem: ensureComponent(all.rootFilesystem, options),
    coreosInstaller: ensureComponent(all.coreosInstaller, options),
    osImage: ensureComponent(all.osImage, options),
    liveIso: ensureComponent(all.liveIso, options),
    etcd: ensureComponent(all.etcd, options),
    cniPlugins: ensureComponent(all.cniPlugins, options),
    pause: ensureComponent(all.pause, options),
    payload: ensureComponent(all.payload, options),
  };
  await Promise.all(Object.values(pending));
  return {
    kubernetes: await pending.kubernetes,
    rootFilesystem: await pending.rootFilesystem,
    coreosInstaller: await pending.coreosInstaller,
    osImage: await pending.osImage,
    liveIso: await pending.liveIso,
    etcd: await pending.etcd,
    cniPlugins: await pending.cniPlugins,
    pause: await pending.pause,
    payload: await pending.payload,
  };
}
