import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { type ChannelCredentials, credentials, status } from '@grpc/grpc-js';
import { Failure } from '../../base/errors/failure.ts';
import { type CallLimits, RpcClient } from '../grpc/client.ts';
import { isRpcFailure } from '../grpc/failure.ts';
import { etcdDescriptor } from './descriptor.ts';
import {
  alarmMethod,
  compactMethod,
  defragmentMethod,
  etcdStatusMethod,
  hashKvMethod,
  leasesMethod,
  memberListMethod,
  rangeMethod,
  revokeLeaseMethod,
  snapshotMethod,
  watchMethod,
} from './messages.ts';

/** PEM: the CA of etcd's serving certificate, and the client's certificate and key. */
export interface EtcdTls {
  ca: string | Uint8Array;
  cert: string | Uint8Array;
  key: string | Uint8Array;
}

export interface EtcdStatus {
  version: string;
  /** The member's latest revision. */
  revision: number;
  /** Size of the database file in bytes, and how much of it is in use. */
  dbSize: number;
  dbSizeInUse: number;
  raftIndex: number;
  raftTerm: number;
  raftAppliedIndex: number;
  isLearner: boolean;
  /** Maximum size of the database in bytes; 0 before etcd 3.6, which does not report it. */
  dbSizeQuota: number;
  /** Member ids, decimal; leader is `0` while there is none. */
  memberId: string;
  leader: string;
  /** Alarms, such as NOSPACE. */
  errors: string[];
}

/**
 * CRC-32C over the key history up to `revision`. It depends on what was
 * compacted before: only hashes with the same `compactRevision` can be compared
 * (-1: nothing was compacted yet).
 */
export interface HashKv {
  hash: number;
  revision: number;
  compactRevision: number;
}

/** A write as seen by a watch: its revision and the keys that it changed. */
export interface EtcdWrite {
  revision: number;
  keys: string[];
}

export interface SnapshotPiece {
  bytes: Uint8Array;
  /** Bytes of the database still to come after this piece; the digest at the end does not count. */
  remainingBytes: number;
  /** Storage version of the database, such as `3.6.0`. */
  version: string;
}

/** Ids are decimal. A member that has not started yet has no name. */
export interface EtcdMember {
  id: string;
  name: string;
  peerUrls: string[];
  clientUrls: string[];
  isLearner: boolean;
}

export interface EtcdAlarm {
  memberId: string;
  alarm: 'NONE' | 'NOSPACE' | 'CORRUPT';
}

/** Maximum number of keys in one range response. */
const keysAtOnce = 2000;

/** `endpoint` is `https://host:port`. Nothing is sent until the first call. */
export function connectEtcd(endpoint: string, tls: EtcdTls): EtcdClient {
  const { protocol, host, hostname } = new URL(endpoint);
  if (protocol !== 'https:') {
    throw new Failure('usage', 'the etcd endpoint must use https', {
      expected: 'https://',
      found: endpoint,
    });
  }
  const rpc = new RpcClient({
    name: `etcd at ${endpoint}`,
    address: host,
    credentials: tlsCredentials(endpoint, hostname, tls),
    // An address is not a server name (RFC 6066), and Node warns; the check below is
    // for the address.
    ...(isIP(hostname) === 0 ? {} : { tlsServerName: 'localhost' }),
    descriptor: etcdDescriptor,
  });
  return new EtcdClient(endpoint, rpc);
}

function tlsCredentials(
  endpoint: string,
  hostname: string,
  { ca, cert, key }: EtcdTls,
): ChannelCredentials {
  try {
    return credentials.createSsl(Buffer.from(ca), Buffer.from(key), Buffer.from(cert), {
      checkServerIdentity: (_name, certificate) => checkServerIdentity(hostname, certificate),
    });
  } catch (cause) {
    const expected = 'a CA certificate, a certificate and its key in PEM';
    throw new Failure('fatal', `The client certificate for etcd at ${endpoint} cannot be used`, {
      expected,
      cause,
    });
  }
}

/** One etcd member. Every call throws RpcFailure, or the signal's reason. */
export class EtcdClient {
  readonly endpoint: string;
  readonly #rpc: RpcClient;

  constructor(endpoint: string, rpc: RpcClient) {
    this.endpoint = endpoint;
    this.#rpc = rpc;
  }

  [Symbol.dispose](): void {
    this.#rpc[Symbol.dispose]();
  }

  /** With `waitForReady` in the limits, waits for etcd to come up. */
  async status(limits: CallLimits): Promise<EtcdStatus> {
    const { header, ...rest } = await this.#rpc.unary(etcdStatusMethod, {}, limits);
    return { ...rest, revision: header.revision, memberId: header.memberId };
  }

  async members(limits: CallLimits): Promise<EtcdMember[]> {
    const { members } = await this.#rpc.unary(memberListMethod, {}, limits);
    return members.map(({ ID, name, peerURLs, clientURLs, isLearner }) => ({
      id: ID,
      name,
      peerUrls: peerURLs,
      clientUrls: clientURLs,
      isLearner,
    }));
  }

  async alarms(limits: CallLimits): Promise<EtcdAlarm[]> {
    const { alarms } = await this.#rpc.unary(alarmMethod, {}, limits);
    return alarms.map(({ memberID, alarm }) => ({ memberId: memberID, alarm }));
  }

  /** Takes an alarm back. etcd raises NOSPACE again at the next write, if there is still no space. */
  async disarm({ memberId, alarm }: EtcdAlarm, limits: CallLimits): Promise<void> {
    await this.#rpc.unary(alarmMethod, { action: 'DEACTIVATE', memberID: memberId, alarm }, limits);
  }

  /**
   * The keys that begin with `prefix` (ASCII), in order; never a value. Reads this
   * member's own data, so it needs no leader. `limits` apply to each response.
   */
  async *keysBelow(prefix: string, limits: CallLimits): AsyncGenerator<string> {
    const rangeEnd = Buffer.from(prefix);
    rangeEnd[rangeEnd.length - 1] = (rangeEnd.at(-1) ?? 0) + 1;
    for (let key = Buffer.from(prefix); ; ) {
      const request = { key, rangeEnd, limit: keysAtOnce, serializable: true, keysOnly: true };
      const { kvs, more } = await this.#rpc.unary(rangeMethod, request, limits);
      for (const kv of kvs) yield Buffer.from(kv.key).toString();
      const last = kvs.at(-1);
      if (!more || last === undefined) return;
      // The first possible key after it.
      key = Buffer.concat([last.key, Buffer.of(0)]);
    }
  }

  async revision(limits: CallLimits): Promise<number> {
    return (await this.status(limits)).revision;
  }

  /**
   * Discards all revisions before `revision`; `physical` waits until they have left
   * the database, as HashKV and defragment require. Succeeds if already done.
   */
  async compact(revision: number, physical: boolean, limits: CallLimits): Promise<void> {
    try {
      await this.#rpc.unary(compactMethod, { revision, physical }, limits);
    } catch (error) {
      const done =
        isRpcFailure(error, status.OUT_OF_RANGE) && error.message.includes('been compacted');
      if (!done) throw error;
    }
  }

  /**
   * Revokes every lease and so deletes its keys: in Kubernetes, events and the API
   * server's address record. Returns the number of leases.
   */
  async revokeLeases(limits: CallLimits): Promise<number> {
    const { leases } = await this.#rpc.unary(leasesMethod, {}, limits);
    for (const { ID } of leases) {
      try {
        await this.#rpc.unary(revokeLeaseMethod, { ID }, limits);
      } catch (error) {
        // It has expired in the meantime.
        if (!isRpcFailure(error, status.NOT_FOUND)) throw error;
      }
    }
    return leases.length;
  }

  /** Rewrites the database without its free pages. The member does not respond during this. */
  async defragment(limits: CallLimits): Promise<void> {
    await this.#rpc.unary(defragmentMethod, {}, limits);
  }

  /**
   * The hash of the history up to a revision; 0 is the latest and always
   * recomputed. For an older one at which this etcd compacted, etcd returns the
   * hash that it kept from *before* that compaction (server/storage/mvcc/hash.go);
   * also for the latest, unless asked for 0.
   */
  async hashKv(revision: number, limits: CallLimits): Promise<HashKv> {
    const latest = await this.#hashKv(0, limits);
    return revision === 0 || latest.revision === revision ? latest : this.#hashKv(revision, limits);
  }

  /** The database file in pieces; the last one is the 32 bytes of its SHA-256. */
  async *snapshotPieces(limits: CallLimits): AsyncGenerator<SnapshotPiece> {
    for await (const { blob, ...rest } of this.#rpc.serverStream(snapshotMethod, {}, limits)) {
      yield { bytes: blob, ...rest };
    }
  }

  /** Every write from now on. The first item, without keys, marks where the watch begins. */
  async *watchAll(limits: CallLimits): AsyncGenerator<EtcdWrite> {
    const everything = Buffer.of(0);
    const request = { createRequest: { key: everything, rangeEnd: everything } };
    for await (const answer of this.#rpc.openStream(watchMethod, request, limits)) {
      if (answer.canceled) {
        throw new Failure('retry', `${this.endpoint} ended the watch`, {
          found: answer.cancelReason,
        });
      }
      const { revision } = answer.header;
      yield { revision, keys: answer.events.map(({ kv }) => Buffer.from(kv.key).toString()) };
    }
  }

  async #hashKv(revision: number, limits: CallLimits): Promise<HashKv> {
    const { hash, hashRevision, compactRevision } = await this.#rpc.unary(
      hashKvMethod,
      { revision },
      limits,
    );
    return { hash, revision: hashRevision, compactRevision };
  }
}
