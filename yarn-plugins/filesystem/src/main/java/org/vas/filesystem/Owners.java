package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.attribute.UserPrincipalNotFoundException;

/** Changes the user and the group that files belong to. */
final class Owners {
  private Owners() {}

  /**
   * Changes the user or the group of a file, or both.
   *
   * @param user a name that this machine knows; null leaves the user as it is
   * @param group a name that this machine knows; null leaves the group as it is
   * @throws IllegalArgumentException if both are null
   * @throws IOException also if this machine does not know a name
   */
  static void set(Path file, String user, String group) throws IOException {
    if (user == null && group == null) {
      throw new IllegalArgumentException(file + ": neither a user nor a group given");
    }
    UserPrincipalLookupService names = file.getFileSystem().getUserPrincipalLookupService();
    PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
    try {
      if (group != null) {
        view.setGroup(names.lookupPrincipalByGroupName(group));
      }
      if (user != null) {
        view.setOwner(names.lookupPrincipalByName(user));
      }
    } catch (UserPrincipalNotFoundException e) {
      throw new IOException(
          file + ": this machine knows no user or group '" + e.getName() + "'", e);
    }
  }
}
