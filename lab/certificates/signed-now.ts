import {
  createAuthority as authorityAt,
  type KeyPair,
  createLaptopAuthorities as laptopAt,
} from '../../lib/pki/authority.ts';
import { type LeafProfile, issueLeaf as leafAt } from '../../lib/pki/leaf.ts';

/** Where the time is not what a test or the lab is about: authorities and leaves of the product, made now. */
export const createAuthority = (
  commonName: string,
  lifetimeDays?: number,
  now = new Date(),
  validFrom = now,
): Promise<KeyPair> => authorityAt(commonName, { now, validFrom }, lifetimeDays);

export const issueLeaf = (
  authority: KeyPair,
  profile: LeafProfile,
  now = new Date(),
): Promise<KeyPair> => leafAt(authority, profile, { now, validFrom: now });

export const createLaptopAuthorities = (now = new Date()) => laptopAt(now);
