import { aio } from './aio/benchmark.ts';
import { apply } from './apply/benchmark.ts';
import type { Benchmark } from './benchmark.ts';
import { csr } from './csr/benchmark.ts';
import { etcdSnapshot } from './etcd-snapshot/benchmark.ts';
import { executables } from './executables.ts';
import { fleet } from './fleet.ts';
import { gatherBench } from './gather/benchmark.ts';
import { images } from './images.ts';
import { kubeClientBench } from './kube-client.ts';
import { lab } from './lab/benchmark.ts';
import { media } from './media.ts';
import { openshiftRender } from './openshift-render/benchmark.ts';
import { relocate } from './relocate/benchmark.ts';
import { waits } from './waits/benchmark.ts';

/** In the order in which they run. */
export const benchmarks: readonly Benchmark[] = [
  executables,
  waits,
  kubeClientBench,
  csr,
  etcdSnapshot,
  apply,
  images,
  media,
  fleet,
  gatherBench,
  aio,
  lab,
  relocate,
  openshiftRender,
];
