package org.vas.shuffle.site;

import java.util.List;
import org.vas.filesystem.ModelGuest.Rename;

/**
 * The protections of a site. A test switches one off, and sees the invariant break that it is for.
 */
final class Guards {
  String lazyPaths = "";
  String links = "guarded";
  Rename rename = Rename.REFUSES_FLAGS;
  boolean unknownIsNotOver = true;
  boolean janitorRuns = true;
  boolean mapOutputIsChecked = true;
  boolean onlyTheCurrentMasterCommits = true;
  boolean evacuationSyncs = true;

  /** Whether guests lose their power only when they are evacuated. */
  boolean onlyEvacuated;
  /** Steps that come as often as all together. */
  List<SiteStep> often = List.of();

  private Guards() {}

  /** All of them, as the product has them. */
  static Guards on() {
    return new Guards();
  }
}
