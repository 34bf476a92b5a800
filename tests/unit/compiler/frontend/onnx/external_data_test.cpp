#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

/// x * w where w's 8 bytes are external.
Model externalModel(const std::vector<std::pair<std::string, std::string>> &entries) {
  Model model;
  model.input("x", {1, 2}).output("y");
  onnx::TensorProto *tensor = model.graph().add_initializer();
  tensor->set_name("w");
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  tensor->add_dims(1);
  tensor->add_dims(2);
  tensor->set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto &[key, value] : entries) {
    onnx::StringStringEntryProto *entry = tensor->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  model.node("Mul", {"x", "w"}, {"y"});
  return model;
}

class ExternalDataTest : public ::testing::Test {
protected:
  ExternalDataTest() {
    std::filesystem::create_directory(folder.path / "model");
    const float values[] = {7, 1, 2, 9};
    writeFile(folder.file("model/w.bin"),
              std::string(reinterpret_cast<const char *>(values), sizeof(values)));
    writeFile(folder.file("outside.bin"), std::string(8, 0));
  }

  std::string error(const std::vector<std::pair<std::string, std::string>> &entries) {
    ImportOptions options;
    options.externalData = folder.file("model");
    std::string messages = import(externalModel(entries), options).messages();
    const std::string prefix = "E0106: initializer 'w': ";
    EXPECT_EQ(messages.substr(0, prefix.size()), prefix);
    return messages.substr(std::min(prefix.size(), messages.size()));
  }

  TemporaryFolder folder;
};

TEST_F(ExternalDataTest, ReadsFromTheModelsFolder) {
  Model model = externalModel({{"location", "w.bin"}, {"offset", "4"}, {"length", "8"}});
  writeFile(folder.file("model/m.onnx"), model.proto.SerializeAsString());
  Imported imported = importFile(folder.file("model/m.onnx"));
  ASSERT_EQ(imported.messages(), "");
  EXPECT_EQ(evaluate(imported, {{{1, 2}, {10, 100}}}).front().values,
            (std::vector<double>{10, 200}));
}

TEST_F(ExternalDataTest, ReadsFromAGivenFolder) {
  Model model = externalModel({{"location", "w.bin"}, {"offset", "8"}, {"checksum", "0"}});
  writeFile(folder.file("m.onnx"), model.proto.SerializeAsString());
  ImportOptions options;
  options.externalData = folder.file("model");
  Imported imported = importFile(folder.file("m.onnx"), options);
  ASSERT_EQ(imported.messages(), "");
  EXPECT_EQ(evaluate(imported, {{{1, 2}, {1, 1}}}).front().values, (std::vector<double>{2, 9}));
}

TEST_F(ExternalDataTest, StaysInTheFolder) {
  EXPECT_EQ(
      error({{"location", "../outside.bin"}}),
      "external data location '../outside.bin' contains '..'; it must stay in the model's folder");
  EXPECT_EQ(error({{"location", "sub/../../outside.bin"}}),
            "external data location 'sub/../../outside.bin' contains '..'; it must stay in the "
            "model's folder");
  std::string absolute = folder.file("outside.bin");
  EXPECT_EQ(error({{"location", absolute}}),
            "external data location '" + absolute +
                "' is absolute; it must be relative to the model's folder");
  std::filesystem::create_symlink(absolute, folder.file("model/link.bin"));
  EXPECT_EQ(error({{"location", "link.bin"}}),
            "external data location 'link.bin' is a link that leaves the model's folder");
  std::filesystem::create_directory_symlink(folder.path, folder.file("model/up"));
  EXPECT_EQ(error({{"location", "up/outside.bin"}}),
            "external data location 'up/outside.bin' is a link that leaves the model's folder");
}

TEST_F(ExternalDataTest, AcceptsALinkInside) {
  std::filesystem::create_symlink("w.bin", folder.file("model/inside.bin"));
  ImportOptions options;
  options.externalData = folder.file("model");
  Model model = externalModel({{"location", "inside.bin"}, {"length", "8"}});
  EXPECT_EQ(import(model, options).messages(), "");
}

TEST_F(ExternalDataTest, ChecksOffsetAndLength) {
  EXPECT_EQ(error({{"location", "w.bin"}, {"offset", "17"}}),
            "external data starts at byte 17 of 'w.bin', but the file has 16 bytes");
  EXPECT_EQ(error({{"location", "w.bin"}, {"offset", "12"}, {"length", "8"}}),
            "external data needs 8 bytes from byte 12 of 'w.bin', but the file has 16 bytes");
  EXPECT_EQ(error({{"location", "w.bin"}, {"length", "4"}}),
            "external data has 4 bytes, but the type and shape need 8");
  EXPECT_EQ(error({{"location", "w.bin"}}),
            "external data has 16 bytes, but the type and shape need 8");
  EXPECT_EQ(error({{"location", "w.bin"}, {"length", "18446744073709551615"}}),
            "external data needs 18446744073709551615 bytes from byte 0 of 'w.bin', but the file "
            "has 16 bytes");
  EXPECT_EQ(error({{"location", "w.bin"}, {"offset", "-1"}}),
            "external data has offset '-1'; expected a number of bytes");
  EXPECT_EQ(error({{"location", "w.bin"}, {"length", "99999999999999999999"}}),
            "external data has length '99999999999999999999'; expected a number of bytes");
}

TEST_F(ExternalDataTest, RefusesBadReferences) {
  EXPECT_EQ(error({}), "external data has no location");
  EXPECT_EQ(error({{"location", ""}}), "external data location '' is not a file name");
  EXPECT_EQ(error({{"location", "w.bin"}, {"url", "x"}}),
            "unknown key 'url' in external data; allowed keys: location, offset, length, checksum");
  EXPECT_EQ(error({{"location", "none.bin"}}), "cannot open external data 'none.bin': No such file "
                                               "or directory; --external-data gives its folder");
  EXPECT_EQ(error({{"location", "."}}), "external data '.' is not a regular file");
  ASSERT_EQ(mkfifo(folder.file("model/pipe").c_str(), 0600), 0);
  EXPECT_EQ(error({{"location", "pipe"}}), "external data 'pipe' is not a regular file");
}

TEST_F(ExternalDataTest, NeedsAFolder) {
  EXPECT_EQ(import(externalModel({{"location", "w.bin"}})).messages(),
            "E0106: initializer 'w': external data location 'w.bin' has no folder: the model came "
            "from standard input");
  ImportOptions options;
  options.externalData = folder.file("absent");
  EXPECT_EQ(import(externalModel({{"location", "w.bin"}}), options).messages(),
            "E0106: initializer 'w': cannot open the external data folder '" +
                folder.file("absent") + "': No such file or directory");
}

} // namespace
} // namespace sluice::frontend::test
