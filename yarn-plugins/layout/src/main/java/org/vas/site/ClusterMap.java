package org.vas.site;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

/** The site description {@code cluster.yaml}: which host has which OSTs and which guest. */
public final class ClusterMap {
  private final String site;
  private final String fsname;
  private final Path mount;
  private final List<SiteHost> hosts;
  private final Map<String, SiteHost> byName;
  private final Map<String, SiteHost> byNid;
  private final Map<Integer, SiteHost> byOst;
  private final Map<String, SiteHost> byGuest;

  ClusterMap(String site, String fsname, Path mount, List<SiteHost> hosts) {
    this.site = requireNonNull(site, "site");
    this.fsname = requireNonNull(fsname, "fsname");
    this.mount = requireNonNull(mount, "mount");
    this.hosts = List.copyOf(hosts);
    byName = index((host, map) -> map.put(host.name(), host));
    byNid = index((host, map) ->
        host.nids().forEach(nid -> map.put(IpText.oneSpelling(nid), host)));
    byOst = index((host, map) -> host.osts().forEach(ost -> map.put(ost, host)));
    byGuest = index((host, map) -> host.guests().forEach(guest -> map.put(guest.name(), host)));
  }

  /**
   * Reads a site description, and checks what placement needs of it; {@code vas cluster check}
   * checks all.
   *
   * @throws ClusterMapException with one line: file, line, key path, and what is wrong there
   */
  public static ClusterMap load(Path file) throws ClusterMapException {
    return ClusterFile.read(requireNonNull(file, "file"));
  }

  public String site() {
    return site;
  }

  /** Returns the name of the Lustre file system. */
  public String fsname() {
    return fsname;
  }

  /** Returns the directory where clients mount the file system. */
  public Path mount() {
    return mount;
  }

  /** Returns the storage servers, in the order of the file. */
  public List<SiteHost> hosts() {
    return hosts;
  }

  public Optional<SiteHost> host(String name) {
    return Optional.ofNullable(byName.get(name));
  }

  /** Returns the host with that NID, however an IPv6 address in it is spelt. */
  public Optional<SiteHost> hostByNid(String nid) {
    return Optional.ofNullable(byNid.get(IpText.oneSpelling(nid)));
  }

  /** Returns the host that serves the OST while nothing has failed over; see {@link OstServers}. */
  public Optional<SiteHost> hostByOst(int ostIndex) {
    return Optional.ofNullable(byOst.get(ostIndex));
  }

  /** Returns the host on which the guest of that name runs. */
  public Optional<SiteHost> hostByGuest(String guestName) {
    return Optional.ofNullable(byGuest.get(guestName));
  }

  /** Returns the host that takes over when this one fails; empty when none does. */
  public Optional<SiteHost> partnerOf(SiteHost host) {
    return host.haPartner().flatMap(this::host);
  }

  private <K> Map<K, SiteHost> index(BiConsumer<SiteHost, Map<K, SiteHost>> entry) {
    Map<K, SiteHost> map = new HashMap<>();
    hosts.forEach(host -> entry.accept(host, map));
    return Map.copyOf(map);
  }
}
